package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
)

// wellImported is what Python says of the environment of healthyFiles.
func wellImported() read.Imported {
	return read.Imported{Torch: "2.9.1+cu128", CUDA: "12.8", GPUs: 1, Path: site + "/torch/__init__.py",
		Arches: strings.Fields("sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"), Own: []string{"/env", site, "/real/env"},
		Mapped: []string{site + "/nvidia/cudnn/lib/libcudnn.so.9", site + "/torch/lib/libtorch_cuda.so"}}
}

// TestImported: what Python says is compared with what the files say.
func TestImported(t *testing.T) {
	for _, c := range []struct {
		name, check, words string // check "": nothing but notes
		mend               string // rebuild, the entry that is taken out, or nothing
		change             func(*read.Case, *read.Imported)
	}{
		{"the same", "", "", "", func(*read.Case, *read.Imported) {}},
		{
			"another torch", "PY011",
			"imports torch 2.8.0+cu128, and the files of the environment are 2.9.1+cu128", "rebuild",
			func(_ *read.Case, i *read.Imported) { i.Torch = "2.8.0+cu128" },
		},
		{
			"another torch from elsewhere", "PY011", "imports torch 2.8.0", "",
			func(_ *read.Case, i *read.Imported) { i.Torch, i.Path = "2.8.0", "/src/torch/__init__.py" },
		},
		{
			"another build", "PY011", "imports torch 2.9.1+cu126", "rebuild",
			func(_ *read.Case, i *read.Imported) { i.Torch = "2.9.1+cu126" },
		},
		{
			"another CUDA", "PY011",
			"torch.version.cuda is 12.6, and the files of the environment are for CUDA 12.8", "rebuild",
			func(_ *read.Case, i *read.Imported) { i.CUDA = "12.6" },
		},
		{
			"no CUDA", "PY011", "torch.version.cuda is None", "rebuild",
			func(_ *read.Case, i *read.Imported) { i.CUDA, i.GPUs = "", 0 },
		},
		{
			"no code for this GPU", "ARC002", "has no code for the NVIDIA H100", "",
			func(_ *read.Case, i *read.Imported) { i.Arches = []string{"sm_80"} },
		},
		{"a cuDNN of LD_LIBRARY_PATH", "LD002", "is taken from /opt/cudnn/lib", "/opt/cudnn/lib/", func(p *read.Case, i *read.Imported) {
			i.Mapped[0] = "/opt/cudnn/lib/libcudnn.so.9.1.0"
			p.Machine.Env["LD_LIBRARY_PATH"] = "/opt/cudnn/lib/"
		}},
		{"a cuDNN by links of the environment", "", "", "", func(p *read.Case, i *read.Imported) {
			p.Files.Loaded[0].Path, i.Mapped[0] = "/cache/libcudnn.so.9", "/cache/libcudnn.so.9" // uv's link mode "symlink"
		}},
		{"what looked shadowed is not", "", "", "", func(p *read.Case, i *read.Imported) {
			p.Files.Loaded[0].Wheel, p.Files.Loaded[0].Path, p.Files.Loaded[0].Via = site+"/nvidia/cudnn/lib/libcudnn.so.9", "/opt/cudnn/lib/libcudnn.so.9", "LD_LIBRARY_PATH"
			i.Mapped[0] = "/real/env/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9"
		}},
		{"no GPU", "DRV015", "", "", func(_ *read.Case, i *read.Imported) { i.GPUs = 0 }},
		{
			"no import", "PY011", "torch does not import", "",
			func(_ *read.Case, i *read.Imported) { *i = read.Imported{Failed: "ImportError: something new"} },
		},
		{"a crash", "PY011", "crashes when it imports torch: segmentation fault", "", func(_ *read.Case, i *read.Imported) {
			*i = read.Imported{Failed: "the environment's Python ended with an error: python was ended by segmentation fault"}
		}},
		{"a hang", "PY011", "neither read nor computed anything for 20s", "", func(_ *read.Case, i *read.Imported) {
			*i = read.Imported{Failed: "Python got nowhere for 20s", Late: "20s"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, i := patientWith(t, healthyFiles()), wellImported()
			p.Imported = &i
			c.change(p, &i)
			r := Examine(know.Embedded(), p)
			if c.check == "" {
				if len(r.Findings) > 0 && r.Findings[0].Severity > know.Note {
					t.Errorf("%+v", r.Findings)
				}
				return
			}
			f := r.Findings[0]
			mend := ""
			if f.Mend.Rebuild {
				mend = "rebuild"
			} else if len(f.Mend.Fixes) > 0 {
				mend = f.Mend.Fixes[0].Value
			}
			if f.Check != c.check || !strings.Contains(f.Text, c.words) || mend != c.mend || f.Severity == know.Note {
				t.Errorf("got %s %s %q, mended by %q", f.Check, f.Severity, f.Text, mend)
			}
		})
	}
}

// A library that is there twice is named where one of the two is not torch's.
func TestMapped(t *testing.T) {
	i := read.Imported{
		Own: []string{"/env"},
		Mapped: []string{
			"/env/lib/libcublas.so.12", "/opt/cuda/lib64/libcublas.so.12.8.4", "/env/lib/libcublasLt.so.12",
		},
	}
	for name, want := range map[string]string{
		"libcublas.so.12":   "/opt/cuda/lib64/libcublas.so.12.8.4",
		"libcublasLt.so.12": "/env/lib/libcublasLt.so.12", "libcublas.so.1": "",
	} {
		if got := i.Loads(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if (&read.Imported{Own: []string{"/env"}}).Owns("/environment/x") {
		t.Error("a directory whose name begins alike is another one")
	}
}
