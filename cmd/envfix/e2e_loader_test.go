//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe"
)

// A loaderCase is a way in which the dynamic loader finds something else than torch's
// packages brought, and what the real one then says of `import torch`.
type loaderCase struct {
	name   string
	says   string // a word of the loader's message; "": it imports
	damage func(t *testing.T, p *patient)
}

var loaderCases = []loaderCase{
	{"whole", "", func(*testing.T, *patient) {}},
	{"LD_LIBRARY_PATH loses to RPATH", "", func(t *testing.T, p *patient) {
		p.vars = append(p.vars, "LD_LIBRARY_PATH="+filepath.Dir(emptyLibrary(t, p, "libnccl.so.2")))
	}},
	{"LD_PRELOAD of an NCCL without symbols", "undefined symbol", func(t *testing.T, p *patient) {
		p.vars = append(p.vars, "LD_PRELOAD="+emptyLibrary(t, p, "libnccl.so.2"))
	}},
	{"LD_PRELOAD of another libc10", "undefined symbol", func(t *testing.T, p *patient) {
		p.vars = append(p.vars, "LD_PRELOAD="+emptyLibrary(t, p, "libc10.so"))
	}},
	{"libcusparseLt deleted", "libcusparseLt.so", func(t *testing.T, p *patient) { noError(t, os.Remove(p.library(t, "libcusparseLt.so.*"))) }},
	{"libnccl deleted", "libnccl.so.2", func(t *testing.T, p *patient) { noError(t, os.Remove(p.library(t, "libnccl.so.2"))) }},
	{"libc10_cuda in the place of another", "undefined symbol", func(t *testing.T, p *patient) {
		noError(t, os.Rename(emptyLibrary(t, p, "libc10_cuda.so"), filepath.Join(p.site, "torch/lib/libc10_cuda.so")))
	}},
	{"libcublas a link to nothing", "libcublas.so", func(t *testing.T, p *patient) {
		file := p.library(t, "libcublas.so.*")
		noError(t, os.Remove(file))
		noError(t, os.Symlink("gone", file))
	}},
	{"libcudnn cut off", "libcudnn", func(t *testing.T, p *patient) { replace(t, p.library(t, "libcudnn.so.*"), "") }},
}

// TestE2ELoader holds what the doctor's walk says of an environment against the real
// dynamic loader: which files a real `import torch` maps, and what it fails of.
func TestE2ELoader(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it needs gigabytes of real torch: `make e2e` runs it")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	t.Parallel() // beside downloads
	source := realEnv(t)
	for _, c := range loaderCases {
		t.Run(c.name, func(t *testing.T) {
			p := copyEnv(t, source)
			c.damage(t, p)
			files := probe.EnvFiles(probe.Options{OS: "linux", Venv: p.env, Named: true, Dir: p.dir, Env: append([]string{"HOME=" + p.dir, "PATH=/usr/bin:/bin"}, p.vars...)})
			maps, failed := p.importTorch()
			if c.says != "" {
				heldAgainst(t, p, c, files, failed)
				return
			}
			opened := func(l machine.LinkFault) bool { return l.Opened } // libcuda, where there is no driver
			if files.Links = slices.DeleteFunc(files.Links, opened); failed != "" || len(files.Links) > 0 {
				t.Fatalf("the real loader: %s; the walk: %+v", failed, files.Links)
			}
			for _, l := range files.Loaded {
				if real := maps[l.Name]; real != "" && real != l.Path {
					t.Errorf("%s: the real loader takes %s, the walk %s", l.Name, real, l.Path)
				}
			}
			for name, real := range p.initialised(t) { // by LD_DEBUG, what was loaded and started
				if maps[name] != real {
					t.Errorf("LD_DEBUG says %s, /proc/self/maps %s", real, maps[name])
				}
			}
			for name, real := range maps {
				if torchLibrary().MatchString(name) && !slices.ContainsFunc(files.Loaded, func(l machine.LoadedLibrary) bool { return l.Path == real }) {
					t.Errorf("the real loader takes %s, which the walk does not follow", real)
				}
			}
			if len(maps) < 20 {
				t.Errorf("only %d libraries are mapped", len(maps))
			}
		})
	}
}

// torchLibrary matches what torch's own libraries are linked with. (libcusolver and
// libnvJitLink a newer torch/__init__.py opens itself, and does without.)
var torchLibrary = lazy.Regexp(`^lib(torch(_cpu|_cuda|_python)?|c10(_cuda)?|cudart|cublas(Lt)?|cudnn|nccl|cufft|cusparse)\.so`)

// heldAgainst compares what the real loader refuses with what the walk does.
func heldAgainst(t *testing.T, p *patient, c loaderCase, files *machine.EnvFiles, failed string) {
	t.Helper()
	if !strings.Contains(failed, c.says) {
		t.Fatalf("the real loader says %q; want %q", failed, c.says)
	}
	for _, l := range files.Links { // what is missing was looked for, as the loader itself writes down
		if l.Path == "" && l.Symbol == "" && !l.Opened && !strings.Contains(p.debug(t), "find library="+l.Library) {
			t.Errorf("the loader looked for no %s", l.Library)
		}
	}
	if !slices.ContainsFunc(files.Links, func(l machine.LinkFault) bool {
		return !l.Opened && (l.Symbol != "" && (strings.Contains(failed, l.Symbol) || strings.Contains(failed, l.By)) || l.Symbol == "" && strings.Contains(failed, l.Library))
	}) {
		t.Errorf("the real loader says %q, the walk %+v", failed, files.Links)
	}
}

// library is a file of NVIDIA's packages.
func (p *patient) library(t *testing.T, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.site, "nvidia/*/lib", name))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v %v", name, found, err)
	}
	return found[0]
}

// emptyLibrary compiles one that has the name and none of the symbols.
func emptyLibrary(t *testing.T, p *patient, name string) string {
	t.Helper()
	file := filepath.Join(p.dir, "other", name)
	put(t, filepath.Join(p.dir, "other/empty.c"), "int empty_(void) { return 0; }\n")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-Wl,-soname,"+name, "-o", file, filepath.Join(p.dir, "other/empty.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// importTorch has the environment's own Python import torch, and returns the libraries that
// are mapped then, by name; else the last line of what it says.
func (p *patient) importTorch() (maps map[string]string, failed string) {
	cmd := exec.Command(filepath.Join(p.env, "bin/python3"), "-I", "-c", "import torch; print(open('/proc/self/maps').read())")
	cmd.Env, cmd.Dir = append([]string{"HOME=" + p.dir, "PATH=/usr/bin:/bin", "LD_DEBUG=libs", "LD_DEBUG_OUTPUT=" + filepath.Join(p.dir, "ld-debug")}, p.vars...), p.dir
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		return nil, lines[len(lines)-1]
	}
	maps = map[string]string{}
	for _, line := range lines {
		if f := strings.Fields(line); len(f) == 6 && strings.Contains(filepath.Base(f[5]), ".so") {
			maps[filepath.Base(f[5])] = f[5]
		}
	}
	return maps, ""
}

// debug is what the loader wrote of its work under importTorch (LD_DEBUG, ld.so(8)).
func (p *patient) debug(t *testing.T) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.dir, "ld-debug.*"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log of the loader's: %v", err)
	}
	var all strings.Builder
	for _, log := range logs {
		all.WriteString(readFile(t, log))
	}
	return all.String()
}

// initialised are the libraries that the loader started, by name.
func (p *patient) initialised(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(p.debug(t)) {
		if _, file, ok := strings.Cut(line, "calling init: "); ok && torchLibrary().MatchString(filepath.Base(strings.TrimSpace(file))) {
			real, err := filepath.EvalSymlinks(strings.TrimSpace(file))
			noError(t, err)
			out[filepath.Base(strings.TrimSpace(file))] = real
		}
	}
	if len(out) < 8 {
		t.Errorf("the loader started only %d of torch's libraries", len(out))
	}
	return out
}
