//go:build unix

package observe

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompiledSite: the compiled sitecustomize.py is of the source beside it, and
// the Python here takes it instead of compiling.
func TestCompiledSite(t *testing.T) {
	want, err := inside.ReadFile("inside/compiled/source")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x\n", sha256.Sum256(sources()["sitecustomize.py"])); got != string(want) {
		t.Fatal("inside/sitecustomize.py has changed: run `go generate ./internal/observe` with every Python that inside/compiled has")
	}
	l, err := newLane(Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python(t), "-v", "-c", "import sys; print(sys.implementation.cache_tag)")
	cmd.Env = l.environment(os.Environ(), Options{})
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	tag := strings.TrimSpace(stdout.String())
	if _, err := inside.ReadFile("inside/compiled/" + tag); err != nil {
		t.Skipf("%s compiles it itself", tag)
	}
	if name := "__pycache__/sitecustomize." + tag + ".pyc"; !strings.Contains(stderr.String(), "code object from '"+l.code+"/"+name+"'") {
		t.Errorf("%s was not loaded\n%s", name, stderr.String())
	}
}

// TestSitecustomize: the user's own runs as without the probe, and a Python
// that never imports torch gets nothing but one finder.
func TestSitecustomize(t *testing.T) {
	own, broken := t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(own, "sitecustomize.py"), []byte("MARK = 'mine'\n"), 0o666)
	os.WriteFile(filepath.Join(broken, "sitecustomize.py"), []byte("raise RuntimeError('mine is broken')\n"), 0o666)
	r := runProbed(t, "import sys\nprint(sys.modules['sitecustomize'].MARK, any('/probe-' in p for p in sys.path), sys.modules['sitecustomize'].__file__ != '')", "PYTHONPATH="+own)
	if r.stdout != "mine False True\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	r = runProbed(t, "print('on')", "PYTHONPATH="+broken)
	if r.stdout != "on\n" || !strings.Contains(r.stderr, "mine is broken") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	r = runProbed(t, "import sys\nprint(sorted(m for m in ('json', 'mmap', 'contextlib', 'torch', '_envfix_probe') if m in sys.modules and m != 'contextlib'))")
	if r.stdout != "[]\n" || r.hasPage || r.probe != nil {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	r = runProbed(t, "try:\n  import torch.nosuch\nexcept ImportError as e: print(e)\nprint(type(__import__('torch').__spec__.loader).__name__, 'exec_module' in vars(__import__('torch').__spec__.loader))")
	if r.stdout != "No module named 'torch.nosuch'\nSourceFileLoader False\n" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestProbeIsSmall holds the probe to what people can read before they trust it.
func TestProbeIsSmall(t *testing.T) {
	if n := bytes.Count(sources()["_envfix_probe.py"], []byte("\n")); n > 310 {
		t.Errorf("the probe has %d lines", n)
	}
	for _, bad := range []string{"\nimport torch", "threading"} {
		if bytes.Contains(sources()["_envfix_probe.py"], []byte(bad)) {
			t.Errorf("the probe contains %q", bad)
		}
	}
}

// TestSpecOnly: who asks whether torch is there, as transformers and datasets do,
// imports it with the probe; a torch that raises is imported later with it, too.
func TestSpecOnly(t *testing.T) {
	for name, before := range map[string]string{
		"asked twice":  "import importlib.util as u\nassert u.find_spec('torch') and u.find_spec('torch')\n",
		"asked a path": "import importlib.machinery as m\nassert m.PathFinder.find_spec('torch')\nimport sys\n[f.find_spec('torch', None) for f in list(sys.meta_path)]\n",
		"failed once":  "import sys\nsys.modules['torch.version'] = None\ntry:\n  import torch\nexcept ImportError: pass\nelse: raise SystemExit('it did not fail')\ndel sys.modules['torch.version']\n[sys.modules.pop(m) for m in list(sys.modules) if m.startswith('torch')]\n",
		"lazily":       "import importlib.util as u, sys\ns = u.find_spec('torch'); s.loader = u.LazyLoader(s.loader)\nm = u.module_from_spec(s); sys.modules['torch'] = m; s.loader.exec_module(m); m.Tensor\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := runProbed(t, before+train)
			if r.code != 0 || r.stderr != "" || !r.hasPage || r.page[wSteps] != 24 {
				t.Errorf("code %d, %d steps\n%s%s", r.code, r.page[wSteps], r.stdout, r.stderr)
			}
		})
	}
}

// TestPython2: an old Python has no probe, and keeps its sitecustomize.
func TestPython2(t *testing.T) {
	python, err := exec.LookPath("python2.7")
	if err == nil {
		err = exec.Command(python, "-c", "0").Run() // a version manager's shim may lead nowhere
	}
	if err != nil {
		t.Skip("no python2.7 on PATH")
	}
	l, err := newLane(Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "sitecustomize.py"), []byte("MARK = 'mine'\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{own: "mine\n", "": "None\n"} {
		cmd := exec.Command(python, "-c", "import sys; print(getattr(sys.modules.get('sitecustomize'), 'MARK', None))")
		cmd.Env = l.environment(append(os.Environ(), "PYTHONPATH="+path), Options{})
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%q: %s, %v", path, out, err)
		}
	}
}
