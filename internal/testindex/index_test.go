package testindex

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func sample(t testing.TB) *Index {
	return Serve(t,
		Torch("2.14.1+cu126", "12.6", "sm_75", "sm_80"),
		Wheel{Name: "torchvision", Version: "0.29.1+cu126", Requires: []string{"torch==2.14.1", "num-py"}},
		Wheel{Name: "Num.Py", Version: "2.1.0", Padding: 5000, Scripts: map[string]string{"num": "num_py:main"}},
	)
}

// try runs argv in an environment that is empty but for what keeps the tools
// out of the user's own files.
func try(t testing.TB, argv ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "PIP_CONFIG_FILE=" + os.DevNull, "UV_NO_CONFIG=1", "UV_CACHE_DIR=" + dir + "/uv"}
	out, err := c.CombinedOutput()
	return string(out), err
}

// The real installers take the wheels in both forms of the index; what breaks
// makes them fail, what can be lived with does not.
func TestRealInstallers(t *testing.T) {
	python := filepath.Join(t.TempDir(), "bin", "python")
	if out, err := try(t, Python(t), "-I", "-m", "venv", filepath.Dir(filepath.Dir(python))); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tools := map[string][]string{
		"pip": {python, "-I", "-m", "pip", "install", "--isolated", "--retries", "0", "--timeout", "2", "--only-binary", ":all:", "--no-compile"},
		"uv":  {UV(t), "pip", "install", "--python", python},
	}
	wheel, page := "/files/"+Torch("2.14.1+cu126", "").Filename(), "/simple/torch/"
	tests := []struct {
		name, path string
		fault      Fault
		pip, uv    bool // whether the installation works
	}{
		{"PEP 503", page, HTMLOnly, true, true},
		{"PEP 691", page, JSONOnly, true, true},
		{"page not found", page, NotFound, false, false},
		{"page is garbage", page, Garbage, false, false},
		{"wheel not found", wheel, NotFound, false, false},
		{"page moved", page, Redirect, true, true},
		{"wheel moved", wheel, Redirect, true, true},
		{"hash missing", page, NoHash, true, true},
		{"no metadata files", page, NoMetadata, true, true},
		{"wrong hash", page, WrongHash, false, false},
		{"wheel with other bytes", wheel, WrongBytes, false, false},
		// pip compares hashes letter by letter.
		{"hash in capitals", page, UpperHash, false, true},
	}
	for _, tt := range tests {
		for tool, works := range map[string]bool{"pip": tt.pip, "uv": tt.uv} {
			t.Run(tt.name+"/"+tool, func(t *testing.T) {
				x, dir := sample(t), t.TempDir()
				x.Break(tt.path, tt.fault)
				argv := append(tools[tool], "--index-url", x.URL, "--target", dir, "torch==2.14.1", "torchvision")
				out, err := try(t, argv...)
				if (err == nil) != works {
					t.Fatalf("works: got %v, want %v\n%s\n%v", err == nil, works, out, x.Requests())
				}
				if !works {
					return
				}
				out, err = try(t, python, "-I", "-c", "import sys; sys.path[:0] = ["+"'"+dir+"']\n"+
					"import torch, torchvision, num_py; print(torch.__version__, torch.version.cuda, torch._C._cuda_getArchFlags(), num_py.__version__)")
				if want := "2.14.1+cu126 12.6 sm_75 sm_80 2.1.0\n"; err != nil || out != want {
					t.Errorf("got %q, %v, want %q", out, err, want)
				}
				if x.Sent() < 5000 {
					t.Errorf("the index counted %d bytes, less than one wheel", x.Sent())
				}
			})
		}
	}
}

func TestWheelIsTheSameEachTime(t *testing.T) {
	w := Torch("2.14.1+cu126", "12.6", "sm_75")
	one, two := w.SHA256(), w.SHA256()
	if one != two || len(one) != 64 {
		t.Errorf("two hashes of one wheel: %s and %s", one, two)
	}
	if !strings.HasSuffix(w.Filename(), "torch-2.14.1+cu126-py3-none-any.whl") {
		t.Errorf("file name %q", w.Filename())
	}
}
