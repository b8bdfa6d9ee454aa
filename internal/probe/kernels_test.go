package probe

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
	got := jupyterKernels(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me"}}))
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
		"p/.env":     "# none\nCUDA_VISIBLE_DEVICES=-1\nTOKEN=x\n",
		"p/train.py": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '3'\n",
		"p/maybe.py": "if cpu:\n    os.environ['CUDA_VISIBLE_DEVICES'] = ''\n",
	})
	named := func(name string) bool { return name == "CUDA_VISIBLE_DEVICES" }
	of := func(value string, at machine.Origin) machine.Variable {
		return machine.Variable{Name: "CUDA_VISIBLE_DEVICES", Value: value, Origins: []machine.Origin{at}}
	}
	got := startedHere(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me"}}), "/p", named)
	want := []machine.Variable{
		of("", machine.Origin{Kind: machine.OriginKernel, Name: "ml", File: "/home/me/.local/share/jupyter/kernels/ml/kernel.json"}),
		of("-1", machine.Origin{Kind: machine.OriginProfile, File: "/p/.env", Line: 2}),
		of("3", machine.Origin{Kind: machine.OriginPython, File: "/p/train.py", Line: 2}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	set := startedHere(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me", "CUDA_VISIBLE_DEVICES=0"}}), "/p", named)
	if set != nil {
		t.Errorf("this shell sets it: %v", set)
	}
}

func TestAllocOptions(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"t/lib/libc10_cuda.so": "\x00max_split_size_mb\x00expandable_segments\x00garbage_collection_threshold\x00backend\x00"})
	for value, wants := range map[string]string{
		"max_split_size_mb:128,expandable_segments:True,garbage_collection_threshold:0.8,backend:cudaMallocAsync": "",
		"max_split_size_mb:20":             "more than 20",
		"expandable_segments:true":         "True or False",
		"garbage_collection_threshold:1.5": "more than 0 and less than 1",
		"backend:malloc":                   "native or cudaMallocAsync",
	} {
		got := allocOptions(sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"PYTORCH_ALLOC_CONF=" + value}}), "/t")
		if said := append(got, machine.BadOption{})[0].Wants; said != wants {
			t.Errorf("%s: %q, want %q", value, said, wants)
		}
	}
}

func TestForeignPlatform(t *testing.T) {
	for _, test := range [][3]string{
		{"Tag: cp311-cp311-manylinux1_x86_64\n", "amd64", ""},
		{"Tag: cp311-cp311-manylinux_2_17_x86_64\nTag: cp311-cp311-manylinux2014_x86_64\n", "amd64", ""},
		{"Tag: py3-none-any\n", "arm64", ""},
		{"Tag: cp311-cp311-manylinux_2_28_x86_64\n", "arm64", "manylinux_2_28_x86_64"},
		{"Tag: cp311-none-macosx_11_0_arm64\n", "arm64", "macosx_11_0_arm64"},
		{"Tag: cp311-cp311-win_amd64\n", "amd64", "win_amd64"},
		{"", "amd64", ""},
	} {
		if got := foreignPlatform([]byte(test[0]), "linux", test[1]); got != test[2] {
			t.Errorf("%q on %s: %q", test[0], test[1], got)
		}
	}
}
