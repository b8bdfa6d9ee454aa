//go:build linux

package observe

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"envfix/internal/proc"
)

// TestProbeReads: what the data set itself reads of a tensor, before any model has
// it, would wait for no GPU.
func TestProbeReads(t *testing.T) {
	loop := strings.Replace(train, "return torch.Tensor(3, 4)", "t = torch.Tensor(3, 4); t.requires_grad = True; t.item(); float(t); return torch.Tensor(3, 4)", 1)
	r := runProbed(t, loop)
	if r.probe == nil || r.probe.Burst == nil || r.probe.Burst.Syncs != 10 || r.page[wErr] != 0 {
		t.Errorf("%d errors\n%+v\n%s", r.page[wErr], r.probe, r.stderr)
	}
}

// TestProbeCells: a line of a notebook's cell has the cell's number, as Jupyter's own
// errors say it; the name of the file that IPython made up says nothing.
func TestProbeCells(t *testing.T) {
	begin := `
import sys, types
shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={"/tmp/ipykernel_7/31.py": 4}))
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
exec(compile(%s, "/tmp/ipykernel_7/31.py", "exec"))
`
	r := runProbed(t, strings.Replace(begin, "%s", "'''"+train+"'''", 1))
	if r.probe == nil || len(r.probe.Loaders) != 1 || r.probe.Burst == nil {
		t.Fatalf("%+v\n%s", r.probe, r.stderr)
	}
	if at := r.probe.Loaders[0].Own; at != "Cell In[4]:10" {
		t.Errorf("the loader's line is %q", at)
	}
	if at := r.probe.Burst.SyncAt; at != "Cell In[4]:16" {
		t.Errorf("the line of the reads is %q", at)
	}
}

// TestWhyNot: why a Python did not load the probe is told by its arguments and its
// environment.
func TestWhyNot(t *testing.T) {
	l, err := newLane(Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	probed := []string{"PYTHONPATH=" + l.code, "ENVFIX_PROBE_DIR=" + l.dir}
	for _, tt := range []struct {
		flag string
		env  []string
		want string
	}{
		{"-B", probed, ""},
		{"-I", probed, "`python -I` leaves PYTHONPATH or site out"},
		{"-B", []string{"PYTHONPATH=.", "ENVFIX_PROBE_DIR=" + l.dir}, "PYTHONPATH was set anew (.): PYTHONPATH=.:$PYTHONPATH keeps the probe"},
		{"-B", []string{"HOME=/"}, "it was started with a clean environment"},
	} {
		cmd := exec.Command(python(t), tt.flag, "-c", "print('on', flush=True); input()")
		cmd.Env = tt.env
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 3)
		if _, err := out.Read(buf); err != nil {
			t.Fatal(err)
		}
		if got := l.whyNot(proc.Self.Of(cmd.Process.Pid)); got != tt.want {
			t.Errorf("%q %q: %q, want %q", tt.flag, tt.env, got, tt.want)
		}
		in.Close()
		cmd.Wait()
	}
}

// TestLibTorch: who loads PyTorch may train; the processes in which torch.compile compiles
// do not, and what is said of a Python without the probe would be said of them.
func TestLibTorch(t *testing.T) {
	for args, want := range map[string]string{
		"python\x00train.py\x00": "cuda",
		"python\x00/env/lib/python3.12/site-packages/torch/_inductor/compile_worker/__main__.py\x00--workers=4\x00": "",
	} {
		dir := t.TempDir()
		maps := "7f00-7f01 r-xp 00000000 08:01 7 /env/lib/torch/lib/libtorch_cuda.so\n"
		if err := errors.Join(os.WriteFile(dir+"/cmdline", []byte(args), 0o600), os.WriteFile(dir+"/maps", []byte(maps), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := libTorch(proc.Process(dir)); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}
