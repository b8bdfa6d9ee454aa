//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/installers"
	"envfix/internal/testelf"
)

// A brokenEnv is one way in which a real environment is broken, what doctor must
// say first, and how `doctor --fix` mends it.
type brokenEnv struct {
	name   string
	checks []string
	mended mendedBy
	damage func(t *testing.T, p *patient)
}

// The ways in which a broken environment is mended.
type mendedBy int

const (
	byRebuild  mendedBy = iota // a new environment, in which nothing is wrong
	byActivate                 // variables, in a shell that read the activate script
	byHand                     // by nobody but its owner: it is named with the command
)

// A patient is a copy of a real environment, made of hard links, in a project.
type patient struct {
	dir, env, site string
	vars           []string
}

// TestE2EDoctor breaks a really installed torch in a dozen ways, and has it
// mended. It takes the environment of the interpreter in ENVFIX_E2E_PYTHON, or
// installs one.
func TestE2EDoctor(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it needs gigabytes of real torch: `make e2e` runs it")
	}
	t.Parallel() // beside downloads
	envfix, source := build(t), realEnv(t)
	t.Run("healthy", func(t *testing.T) {
		p := copyEnv(t, source)
		for _, report := range []doctorAnswer{p.examine(t, envfix), p.run(t, exec.Command(envfix, p.doctor("--import")...))} {
			for _, f := range report.Findings {
				if f.Severity != "note" {
					t.Errorf("%s %s %s", f.Severity, f.Check, f.Text)
				}
			}
		}
	})
	for _, b := range brokenEnvs {
		t.Run(b.name, func(t *testing.T) {
			sample(t, slices.Contains([]string{"another cuDNN first on LD_LIBRARY_PATH", "files of a CPU build", "a file torch.py"}, b.name))
			if b.mended == byRebuild {
				takeDisk(t, diskByUV)
			}
			p := copyEnv(t, source)
			b.damage(t, p)
			report := p.examine(t, envfix)
			if len(report.Findings) == 0 || !slices.Contains(b.checks, report.Findings[0].Check) {
				t.Fatalf("want one of %v first: %+v", b.checks, report)
			}
			f := report.Findings[0]
			t.Logf("%s %s: %s; %v; %d steps", f.Severity, f.Check, f.Text, f.Fix, len(f.Steps))
			p.mend(t, envfix, b)
		})
	}
}

var brokenEnvs = []brokenEnv{
	{"another cuDNN first on LD_LIBRARY_PATH", []string{"LD010", "LD002"}, byActivate, func(t *testing.T, p *patient) {
		other := filepath.Join(p.dir, "cudnn")
		link(t, filepath.Join(p.site, "nvidia/cudnn/lib"), other)
		p.vars = append(p.vars, "LD_LIBRARY_PATH="+other)
	}},
	{"metadata of a CPU build", []string{"PY011"}, byRebuild, func(t *testing.T, p *patient) {
		info := p.info(t, "torch")
		meta := readFile(t, info+"/METADATA")
		version := field(t, meta, "Version")
		public, _, _ := strings.Cut(version, "+")
		replace(t, info+"/METADATA", strings.Replace(meta, "\nVersion: "+version, "\nVersion: "+public+"+cpu", 1))
		replace(t, info+"/RECORD", strings.ReplaceAll(readFile(t, info+"/RECORD"), filepath.Base(info), "torch-"+public+"+cpu.dist-info"))
		noError(t, os.Rename(info, filepath.Join(p.site, "torch-"+public+"+cpu.dist-info")))
	}},
	{"files of a CPU build", []string{"PY001", "PY006"}, byRebuild, func(t *testing.T, p *patient) {
		info := p.info(t, "torch")
		meta := readFile(t, info+"/METADATA")
		version := field(t, meta, "Version")
		public, _, _ := strings.Cut(version, "+")
		replace(t, info+"/METADATA", strings.Replace(meta, "\nVersion: "+version, "\nVersion: "+public+"+cpu", 1))
		replace(t, filepath.Join(p.site, "torch/version.py"), "__version__ = '"+public+"+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n")
	}},
	{"cuDNN removed", []string{"PY010"}, byRebuild, func(t *testing.T, p *patient) {
		noError(t, os.RemoveAll(p.info(t, "nvidia_cudnn_cu*")))
		noError(t, os.RemoveAll(filepath.Join(p.site, "nvidia/cudnn")))
	}},
	{"cuDNN of another version", []string{"LD003"}, byRebuild, func(t *testing.T, p *patient) {
		info := p.info(t, "nvidia_cudnn_cu*")
		meta := readFile(t, info+"/METADATA")
		replace(t, info+"/METADATA", strings.Replace(meta, "\nVersion: "+field(t, meta, "Version"), "\nVersion: 9.1.0.70", 1))
	}},
	{"two copies of torch", []string{"PY011"}, byRebuild, func(t *testing.T, p *patient) {
		other := filepath.Join(p.site, "torch-2.0.1.dist-info")
		noError(t, os.Mkdir(other, 0o755))
		replace(t, other+"/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.0.1\n")
	}},
	{"a ~orch leftover", []string{"PY014"}, byRebuild, func(t *testing.T, p *patient) { noError(t, os.Mkdir(filepath.Join(p.site, "~orch"), 0o755)) }},
	{"torchvision of another release", []string{"PY007"}, byRebuild, func(t *testing.T, p *patient) {
		old, err := filepath.Glob(filepath.Join(p.site, "torchvision-*.dist-info"))
		noError(t, err)
		for _, dir := range old {
			noError(t, os.RemoveAll(dir))
		}
		info := filepath.Join(p.site, "torchvision-0.15.2.dist-info")
		noError(t, os.Mkdir(info, 0o755))
		replace(t, info+"/METADATA", "Metadata-Version: 2.1\nName: torchvision\nVersion: 0.15.2\nRequires-Dist: torch==2.0.1\n")
	}},
	{"the user's site shadows a conda environment", []string{"PY004"}, byActivate, func(t *testing.T, p *patient) {
		// In a virtual environment its own packages come first: site.py.
		noError(t, os.Remove(filepath.Join(p.env, "pyvenv.cfg")))
		noError(t, os.MkdirAll(filepath.Join(p.env, "conda-meta"), 0o755))
		minor := filepath.Base(filepath.Dir(p.site))
		put(t, filepath.Join(p.dir, "home/.local/lib", minor, "site-packages/torch/__init__.py"), "")
	}},
	{"wrong architecture", []string{"IDX003"}, byRebuild, func(t *testing.T, p *patient) {
		other := testelf.AArch64
		if thisMachineIs(t, "aarch64") {
			other = testelf.X86_64
		}
		replace(t, filepath.Join(p.site, "torch/lib/libtorch.so"), string(testelf.Library(other, testelf.Dynamic{})))
	}},
	{"a stub of libcuda first", []string{"DRV008"}, byActivate, func(t *testing.T, p *patient) {
		arch := testelf.X86_64
		if thisMachineIs(t, "aarch64") {
			arch = testelf.AArch64
		}
		put(t, filepath.Join(p.dir, "old/libcuda.so.1"), string(testelf.Library(arch, testelf.Dynamic{SOName: "libcuda.so.1"})))
		p.vars = append(p.vars, "LD_LIBRARY_PATH="+filepath.Join(p.dir, "old"))
	}},
	{"a half-written RECORD", []string{"PY011"}, byRebuild, func(t *testing.T, p *patient) {
		file := p.info(t, "torch") + "/RECORD"
		text := readFile(t, file)
		replace(t, file, text[:len(text)/2])
	}},
	{"PYTHONPATH", []string{"PY004"}, byActivate, func(t *testing.T, p *patient) {
		put(t, filepath.Join(p.dir, "elsewhere/torch/__init__.py"), "")
		p.vars = append(p.vars, "PYTHONPATH="+filepath.Join(p.dir, "elsewhere"))
	}},
	{"a file torch.py", []string{"PY013"}, byHand, func(t *testing.T, p *patient) { put(t, filepath.Join(p.dir, "torch.py"), "print('mine')\n") }},
}

// copyEnv copies an environment by hard links, beside the original: links do not
// cross file systems.
func copyEnv(t *testing.T, source string) *patient {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(source), "doctor-")
	noError(t, err)
	t.Cleanup(func() { noError(t, os.RemoveAll(dir)) })
	p := &patient{dir: dir, env: filepath.Join(dir, "env")}
	link(t, source, p.env)
	sites, err := filepath.Glob(filepath.Join(p.env, "lib/python3*/site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatalf("%v %v", sites, err)
	}
	p.site = sites[0]
	script := filepath.Join(p.env, "bin/activate") // a link to it is not edited
	replace(t, script, readFile(t, script))
	return p
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-al", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

type doctorAnswer struct {
	OK       bool `json:"ok"`
	Findings []struct {
		Check, Severity, Text string
		Fix                   []string
		Steps                 []struct{ ID string }
	} `json:"findings"`
}

// doctor are the arguments that every examination has.
func (p *patient) doctor(more ...string) []string {
	return append([]string{"doctor", "--json", "--env", p.env, "--gpu", "H100 80GB HBM3", "--driver", "590.48.01"}, more...)
}

func (p *patient) environ() []string {
	// A version manager's programs need its own home: the environment's Python will do.
	return append([]string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(p.dir, "home"), "ENVFIX_NVML=off"}, p.vars...)
}

func (p *patient) examine(t *testing.T, envfix string) doctorAnswer {
	t.Helper()
	return p.run(t, exec.Command(envfix, p.doctor()...))
}

// mend runs `doctor --fix` and looks at what is wrong afterwards: nothing, but for
// what is left to a person.
func (p *patient) mend(t *testing.T, envfix string, b brokenEnv) {
	t.Helper()
	before := p.vars
	p.vars = append(p.network(t), append(before, "XDG_STATE_HOME="+file(t, state, ""))...)
	p.run(t, exec.Command(envfix, p.doctor("--fix", "--yes", "--only-index", "default")...))
	p.vars = before
	script := filepath.Join(p.env, "bin/activate")
	if conda := filepath.Join(p.env, "etc/conda/activate.d/envfix.sh"); exists(conda) {
		script = conda
	}
	after := p.examine(t, envfix)
	if b.mended == byActivate {
		after = p.run(t, exec.Command("sh", append([]string{"-c", `. "$0" && exec "$@"`, script, envfix}, p.doctor()...)...))
	}
	worst := 0
	for _, f := range after.Findings {
		if f.Severity != "note" || slices.Contains(b.checks, f.Check) {
			worst++
		}
	}
	switch {
	case b.mended == byHand && (after.OK || !slices.Contains(b.checks, after.Findings[0].Check) || !strings.HasPrefix(after.Findings[0].Fix[0], "`mv ")):
		t.Errorf("left to a person, and yet: %+v", after)
	case b.mended != byHand && (worst > 0 || !after.OK):
		t.Errorf("not mended: %+v", after)
	}
}

// network are the variables with which the installer reaches the default index,
// and its cache, which all patients share.
func (p *patient) network(t *testing.T) []string {
	t.Helper()
	cache, err := os.UserCacheDir()
	noError(t, err)
	out := []string{"XDG_CACHE_HOME=" + cache}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(installers.Network, name) {
			out = append(out, kv)
		}
	}
	return out
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// run runs a doctor and reads its answer.
func (p *patient) run(t *testing.T, c *exec.Cmd) doctorAnswer {
	t.Helper()
	c.Dir, c.Env = p.dir, p.environ()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if slices.Contains(c.Args, "--fix") && err != nil {
		t.Logf("%v\n%s", err, stderr.String()[max(0, stderr.Len()-2000):])
	}
	var report doctorAnswer
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	return report
}

// info is the one dist-info directory of a package.
func (p *patient) info(t *testing.T, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.site, name+"-*.dist-info"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v %v", name, found, err)
	}
	return found[0]
}

func field(t *testing.T, text, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+name+": ")
	if !ok {
		t.Fatalf("no %s", name)
	}
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	noError(t, err)
	return string(b)
}

// replace writes a new file in the place of one that is shared by a hard link.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	noError(t, os.WriteFile(file, []byte(text), 0o644))
}

func put(t *testing.T, file, text string) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	noError(t, os.WriteFile(file, []byte(text), 0o644))
}

func thisMachineIs(t *testing.T, arch string) bool {
	t.Helper()
	out, err := exec.Command("uname", "-m").Output()
	noError(t, err)
	return strings.TrimSpace(string(out)) == arch
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
