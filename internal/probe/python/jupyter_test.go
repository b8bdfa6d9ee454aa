package python

import (
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

// The Pythons of Jupyter's kernels and the torch of each, by files alone.
func TestKernels(t *testing.T) {
	cfg := "home = /usr/bin\nversion = 3.12.4\n"
	share := "home/me/.local/share/jupyter/kernels/"
	root := testenv.Tree(t, map[string]string{
		share + "plain/kernel.json":                       `{"argv": ["/usr/bin/python3", "-m", "ipykernel_launcher"]}`,
		share + "good/kernel.json":                        `{"argv": ["/srv/good/bin/python", "-m", "ipykernel_launcher"]}`,
		share + "cpu/kernel.json":                         `{"argv": ["/srv/cpu/bin/python", "-m", "ipykernel_launcher"]}`,
		share + "r/kernel.json":                           `{"argv": ["/usr/bin/R", "--slave"]}`,
		share + "bare/kernel.json":                        `{"argv": ["python", "-m", "ipykernel_launcher"]}`,
		share + "broken/kernel.json":                      `{"argv": `,
		"usr/local/share/jupyter/kernels/amd/kernel.json": `{"argv": ["/srv/amd/bin/python3"]}`,
		"srv/good/pyvenv.cfg":                             cfg, "srv/cpu/pyvenv.cfg": cfg, "srv/amd/pyvenv.cfg": cfg,
		"srv/good/lib/python3.12/site-packages/torch/version.py": "__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\n",
		"srv/cpu/lib/python3.12/site-packages/torch/version.py":  "__version__ = '2.4.1'\ncuda: Optional[str] = None\n",
		"srv/amd/lib/python3.12/site-packages/torch/version.py":  "__version__ = '2.9.1+rocm6.4'\ncuda = None\nhip: Optional[str] = '6.4'\n",
	})
	got := Kernels(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me"}}))
	at := func(name string) string { return "/" + share + name + "/kernel.json" }
	want := []machine.Kernel{
		{Name: "cpu", Spec: at("cpu"), Python: "/srv/cpu/bin/python", Own: true, Torch: "2.4.1"},
		{Name: "good", Spec: at("good"), Python: "/srv/good/bin/python", Own: true, Torch: "2.9.1+cu128", CUDA: true},
		{Name: "plain", Spec: at("plain"), Python: "/usr/bin/python3", Own: true},
		{Name: "amd", Spec: "/usr/local/share/jupyter/kernels/amd/kernel.json", Python: "/srv/amd/bin/python3", Torch: "2.9.1+rocm6.4", CUDA: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What a program gets that is started here, and this shell has not: by a notebook's kernel,
// a file that editors read, a script; not by an indented line, which may not run.
func TestStartedHere(t *testing.T) {
	root := testenv.Tree(t, map[string]string{
		"home/me/.local/share/jupyter/kernels/ml/kernel.json": `{"argv": ["/srv/a/bin/python"], "env": {"CUDA_VISIBLE_DEVICES": "", "TOKEN": "x"}}`,
		"v/share/jupyter/kernels/own/kernel.json":             `{"argv": ["/v/bin/python"], "env": {"CUDA_VISIBLE_DEVICES": "7"}}`,
		"p/.env":     "# none\nCUDA_VISIBLE_DEVICES=-1\nTOKEN=x\n",
		"p/train.py": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'\n",
		"p/maybe.py": "if cpu:\n    os.environ['CUDA_VISIBLE_DEVICES'] = ''\n",
	})
	named := func(name string) bool { return name == "CUDA_VISIBLE_DEVICES" }
	of := func(value string, at machine.Origin) machine.Variable {
		return machine.Variable{Name: "CUDA_VISIBLE_DEVICES", Value: value, Origins: []machine.Origin{at}}
	}
	got := StartedHere(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me", "VIRTUAL_ENV=/v"}}), "/p", named)
	want := []machine.Variable{
		of("", machine.Origin{Kind: machine.OriginKernel, Name: "ml", File: "/home/me/.local/share/jupyter/kernels/ml/kernel.json"}),
		of("7", machine.Origin{Kind: machine.OriginKernel, Name: "own", File: "/v/share/jupyter/kernels/own/kernel.json"}),
		of("-1", machine.Origin{Kind: machine.OriginProfile, File: "/p/.env", Line: 2}),
		of("3", machine.Origin{Kind: machine.OriginPython, File: "/p/train.py", Line: 2}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	set := StartedHere(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me", "CUDA_VISIBLE_DEVICES=0"}}), "/p", named)
	if set != nil {
		t.Errorf("this shell sets it: %v", set)
	}
}
