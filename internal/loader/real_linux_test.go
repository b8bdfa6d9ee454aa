package loader_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"envfix/internal/loader"
	"envfix/internal/say"
	"envfix/internal/testelf"
)

// A realCase is a way in which the loader decides, built by a C compiler below a directory of its own: make names
// libraries by "file: needed… | flags of the linker | code".
type realCase struct {
	make []string
	vars []string // with {} for the directory
	junk map[string][]byte
}

var realCases = map[string]realCase{
	"RPATH before LD_LIBRARY_PATH":       {[]string{"r/liba.so", "l/liba.so", "main: r/liba.so | old r"}, []string{"LD_LIBRARY_PATH={}/l"}, nil},
	"LD_LIBRARY_PATH before RUNPATH":     {[]string{"r/liba.so", "l/liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH={}/l"}, nil},
	"a relative entry":                   {[]string{"r/liba.so", "l/liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH={}/none:{}/l/"}, nil},
	"an entry from where one stands":     {[]string{"r/liba.so", "l/liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH=none:l/"}, nil},
	"an empty entry":                     {[]string{"r/liba.so", "liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH={}/none:"}, nil},
	"an empty list":                      {[]string{"r/liba.so", "liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH="}, nil},
	"RPATH of who loaded it":             {[]string{"r/libb.so", "r/liba.so: r/libb.so", "main: r/liba.so | old r"}, nil, nil},
	"RUNPATH serves its own alone":       {[]string{"r/libb.so", "r/liba.so: r/libb.so", "main: r/liba.so | new r"}, nil, nil},
	"RUNPATH puts that RPATH out":        {[]string{"r/libb.so", "r/liba.so: r/libb.so | new x", "main: r/liba.so | old r"}, nil, nil},
	"LD_PRELOAD":                         {[]string{"r/liba.so", "p/liba.so", "main: r/liba.so | old r"}, []string{"LD_PRELOAD={}/p/liba.so"}, nil},
	"LD_PRELOAD of what is not there":    {[]string{"r/liba.so", "main: r/liba.so | old r"}, []string{"LD_PRELOAD={}/p/liba.so"}, nil},
	"a directory for newer processors":   {[]string{"r/liba.so", "l/liba.so", "l/glibc-hwcaps/x86-64-v2/liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH={}/l"}, nil},
	"another processor is passed over":   {[]string{"r/liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH={}/l"}, map[string][]byte{"l/liba.so": testelf.Library(testelf.AArch64, testelf.Dynamic{})}},
	"what is no library ends the search": {[]string{"r/liba.so", "main: r/liba.so | new r"}, []string{"LD_LIBRARY_PATH={}/l"}, map[string][]byte{"l/liba.so": []byte(strings.Repeat("no library ", 20))}},
	"a symbol that none has":             {[]string{"r/liba.so | | int f(void){return 1;}", "main: r/liba.so | old r | int f(void); int main(void){return f();}", "r/liba.so | | int g(void){return 1;}"}, nil, nil},
	"a weak one":                         {[]string{"r/liba.so | | int f(void){return 1;}", "main: r/liba.so | old r | int f(void) __attribute__((weak)); int main(void){return f ? f() : 0;}", "r/liba.so"}, nil, nil},
	"a symbol of the program's":          {[]string{"r/liba.so | any | int f(void); int g(void){return f();}", "main: r/liba.so | old r,-rdynamic | int g(void); int f(void){return 0;} int main(void){return g();}"}, nil, nil},
	"a symbol of who was preloaded":      {[]string{"r/liba.so | any | int f(void); int g(void){return f();}", "p/libp.so | | int f(void){return 0;}", "main: r/liba.so | old r | int g(void); int main(void){return g();}"}, []string{"LD_PRELOAD={}/p/libp.so"}, nil},
	"a version that is not in it":        {[]string{"r/liba.so | V2 | int f(void){return 0;}", "main: r/liba.so | old r | int f(void); int main(void){return f();}", "r/liba.so | V1 | int f(void){return 0;}"}, nil, nil},
	"a version that is in it":            {[]string{"r/liba.so | V2 | int f(void){return 0;}", "main: r/liba.so | old r | int f(void); int main(void){return f();}"}, nil, nil},
}

// build compiles one file of a case.
func build(t *testing.T, dir, line string) {
	t.Helper()
	part := append(strings.Split(line, "|"), "", "")
	name, needs, _ := strings.Cut(strings.TrimSpace(part[0]), ":")
	code, file := strings.TrimSpace(part[2]), filepath.Join(dir, name)
	argv := []string{"-o", file, "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-Wl,-rpath-link," + dir + "/r"}
	if name != "main" {
		argv = append(argv, "-shared", "-fPIC", "-Wl,-soname,"+filepath.Base(name))
	} else if code == "" {
		code = "int main(void){return 0;}"
	}
	for flag := range strings.SplitSeq(strings.TrimSpace(part[1]), ",") {
		how, where, _ := strings.Cut(flag, " ")
		switch {
		case how == "old", how == "new":
			argv = append(argv, "-Wl,-rpath,$ORIGIN/"+map[bool]string{true: where, false: "../" + where}[name == "main"],
				map[string]string{"old": "-Wl,--disable-new-dtags", "new": "-Wl,--enable-new-dtags"}[how])
		case strings.HasPrefix(how, "V"):
			script := filepath.Join(dir, how)
			put(t, script, []byte(how+" { f; };\n"))
			argv = append(argv, "-Wl,--version-script="+script)
		case strings.HasPrefix(how, "-"):
			argv = append(argv, how)
		}
	}
	for _, n := range strings.Fields(needs) {
		argv = append(argv, filepath.Join(dir, n))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cc", argv...)
	cmd.Stdin = strings.NewReader(code + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cc %q: %v\n%s", argv, err, out)
	}
}

var (
	realTaken = regexp.MustCompile(`(?m)^\t(?:(lib[abp]\.so) => )?(\S*lib[abp]\.so) \(0x`)
	realFault = regexp.MustCompile("(lib\\w+\\.so): cannot open shared object|(lib\\w+\\.so): (?:invalid ELF header|file too short)|undefined symbol: (\\w+)|version `(\\w+)' not found")
)

// TestE2EReal holds the walk against the loader that is here, in each way in which that decides: what it takes (as ldd
// asks it), and what it ends with when all symbols are bound at the start (ld.so(8), LD_BIND_NOW).
func TestE2EReal(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it compiles and starts programs: `make e2e` runs it")
	}
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no C compiler, or another processor than its cases are of")
	}
	for name, c := range realCases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, line := range c.make {
				build(t, dir, line)
			}
			for file, data := range c.junk {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				put(t, filepath.Join(dir, file), data)
			}
			env := []string{"PATH=/usr/bin:/bin"}
			for _, v := range c.vars {
				env = append(env, strings.ReplaceAll(v, "{}", dir))
			}
			run := func(more string) string {
				cmd := exec.Command(filepath.Join(dir, "main"))
				cmd.Dir, cmd.Env = dir, append(slices.Clone(env), more)
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			var real []string
			for _, m := range realTaken.FindAllStringSubmatch(run("LD_TRACE_LOADED_OBJECTS=1"), -1) {
				real = append(real, "takes "+filepath.Join(say.If(!filepath.IsAbs(m[2]), dir), m[2]))
			}
			for _, m := range realFault.FindAllStringSubmatch(run("LD_BIND_NOW=1"), 1) {
				real = append(real, "lacks "+strings.Join(m[1:], ""))
			}
			walked := walk(dir, env)
			slices.Sort(real)
			ends := slices.ContainsFunc(real, func(s string) bool { return strings.HasPrefix(s, "lacks lib") })
			if ends { // at what is missing it ends, and says no more of what it took
				real = slices.DeleteFunc(real, func(s string) bool { return !strings.HasPrefix(s, "lacks") })
				walked = slices.DeleteFunc(walked, func(s string) bool { return !strings.HasPrefix(s, "lacks lib") })
			}
			if !slices.Equal(real, walked) {
				t.Errorf("the loader: %q\nthe walk: %q\n%s", real, walked, run("LD_BIND_NOW=1"))
			}
		})
	}
}

// walk is what the walk says of a program, in the same words.
func walk(dir string, env []string) (out []string) {
	cache, _ := os.ReadFile("/etc/ld.so.cache")
	f := &loader.Files{
		Real: func(p string) string { return p }, Cache: loader.ReadCache(cache), Levels: []string{"x86-64-v2"},
		Resolved: func(p string) string {
			if to, err := filepath.EvalSymlinks(p); err == nil {
				return to
			}
			return p
		},
		Default: []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"},
	}
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok {
			f.Dir, f.LibraryPath = dir, loader.Entries(list, dir)
		} else if list, ok := strings.CutPrefix(v, "LD_PRELOAD="); ok {
			f.Preload = strings.Split(list, ":")
		}
	}
	v := f.Start(filepath.Join(dir, "main"), nil)
	for _, o := range v.All {
		if strings.HasPrefix(o.Path, dir+"/") && o != v.Program {
			out = append(out, "takes "+o.Path)
		}
	}
	for _, m := range v.Missing {
		out = append(out, "lacks "+m.Name)
	}
	for _, x := range v.Versions(v.All) {
		out = append(out, "lacks "+x.Version)
	}
	if len(v.Missing) == 0 && len(v.Versions(v.All)) == 0 {
		for _, o := range v.All {
			if strings.HasPrefix(o.Path, dir+"/") {
				for _, b := range v.Bind(o, v.All, nil) {
					out = append(out, fmt.Sprintf("lacks %s", b.Symbol))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}
