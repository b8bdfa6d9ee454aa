//go:build linux

package observe

import (
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
	if r.probe == nil || r.probe.Burst == nil || r.page[wCPUSync] != 10 || r.page[wErr] != 0 {
		t.Errorf("%d reads, %d errors\n%+v\n%s", r.page[wCPUSync], r.page[wErr], r.probe, r.stderr)
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
