package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// What lies in the environment's own files is mended by building it anew; a
// variable, by the activate script; a file of the user's own, by nobody else.
func TestMends(t *testing.T) {
	variables := map[string]plan.EnvFix{
		"parts of another cuDNN": {
			Variable: "LD_LIBRARY_PATH", Action: "remove", Value: "/opt/cudnn/lib/",
			Why: "its libcudnn_heuristic.so.9 comes before the one that belongs there",
		},
		"an older cuDNN": {
			Variable: "LD_LIBRARY_PATH", Action: "remove", Value: "/opt/cudnn/lib/",
			Why: "its libcudnn.so.9 comes before the one that belongs there", From: "/etc/environment:2",
		},
		"a stub of libcuda": {
			Variable: "LD_LIBRARY_PATH", Action: "remove", Value: "/opt/cudnn/lib/",
			Why: "its libcuda.so.1 comes before the one that belongs there",
		},
		"the user's site": {
			Variable: "PYTHONNOUSERSITE", Action: "set", Value: "1",
			Why: "the user's site-packages hold another torch",
		},
		"PYTHONPATH": {
			Variable: "PYTHONPATH", Action: "remove", Value: "/opt/lib/",
			Why: "its torch would come before the environment's",
		},
		"another nvJitLink": {
			Variable: "LD_LIBRARY_PATH", Action: "remove", Value: "/opt/cudnn/lib/",
			Why: "its libnvJitLink.so.12 comes before the one that belongs there",
		},
		"a newer cuDNN": {
			Variable: "LD_LIBRARY_PATH", Action: "remove", Value: "/opt/cudnn/lib/",
			Why: "its libcudnn.so.9 comes before the one that belongs there",
		},
		"libcuda of another driver": {
			Variable: "LD_LIBRARY_PATH", Action: "remove", Value: "/opt/cudnn/lib/",
			Why: "its libcuda.so.1 comes before the one that belongs there",
		},
	}
	for _, b := range broken {
		files := healthyFiles()
		b.damage(files)
		for i := range files.Loaded {
			if files.Loaded[i].Via == "LD_LIBRARY_PATH" {
				files.Loaded[i].Entry = "/opt/cudnn/lib/"
			}
		}
		p := patientWith(t, files)
		p.Machine.Env["PYTHONPATH"] = "/src:/opt/lib/"
		if b.name == "an older cuDNN" {
			p.Machine.LibraryDirs = []machine.LibraryDir{{Path: "/opt/cudnn/lib/", From: "/etc/environment:2"}}
		}
		want := Mend{Rebuild: true}
		if f, ok := variables[b.name]; ok {
			want = Mend{Fixes: []plan.EnvFix{f}}
		}
		switch b.name {
		case "a file named torch.py", "a stub of libcuda that the loader's configuration names": // the user's, and root's
			want = Mend{}
		case "a library of another size":
			want.Fetch = []string{"torch"} // uv installed it
		case "a RECORD that is cut off": // which its own remedy takes away first
			want.Again = []string{"torch==2.9.1"}
		case "two copies of torch": // in the version of the files that are there, and its metadata bears no label
			want.Again = []string{"torch==2.9.1"}
		case "metadata of a CPU build":
			want.Again = []string{"torch==2.9.1+cu128"}
		case "a leftover":
			want = Mend{Sweep: true}
		}
		if diff := cmp.Diff(want, Examine(know.Embedded(), p).Findings[0].Mend); diff != "" {
			t.Errorf("%s: %s", b.name, diff)
		}
	}
}

// Files elsewhere are no part of the environment: building it anew leaves them as
// they are.
func TestMendsElsewhere(t *testing.T) {
	files := healthyFiles()
	files.Dists = append(files.Dists,
		machine.DistFiles{
			Name: "triton", Version: "3.0",
			Info: "/home/u/.local/lib/python3.12/site-packages/triton-3.0.dist-info", Absent: 3,
			Missing: []string{"x"},
		})
	if f := Examine(know.Embedded(), patientWith(t, files)).Findings[0]; f.Check != "PY010" || !f.Mend.IsZero() {
		t.Errorf("%+v", f)
	}
}

// What a remedy installs beside torch comes alone, where the default index has it and there
// is nothing else to do: what is to be upgraded is chosen with all that is there.
func TestCureAlone(t *testing.T) {
	for fix, want := range map[string]string{
		"pip install --force-reinstall --no-deps numpy==2.1.0":                                                          "numpy==2.1.0",
		"pip install --force-reinstall --no-deps torch==2.9.1 numpy==2.1.0":                                             "torch==2.9.1 numpy==2.1.0",
		"pip install --force-reinstall --no-deps torch==2.9.1+cu126 --index-url https://download.pytorch.org/whl/cu126": "torch==2.9.1+cu126",
		"pip install --force-reinstall --no-deps torch==2.9.0a0+git1":                                                   "", // no index is known to have it
		"uv pip install --python .venv/bin/python \"sympy>=1.13\" \"markupsafe>=2.0\"":                                  "sympy>=1.13 markupsafe>=2.0",
		"pip install torch==2.9.1 \"numpy<2\"":                                                                          "numpy<2",
		"pip install --upgrade fastpkg torch==2.9.1":                                                                    "",
		"pip install torchvision==0.24.1":                                                                               "",
		"pip install pytorch-triton-rocm==3.5.1":                                                                        "",
		"pip install --force-reinstall torch==2.9.1 numpy==2.1.0":                                                       "",
		"pip install torch==2.8.0":                                                                                      "",
	} {
		r := &Report{Findings: []Finding{{Check: "PY010", Cause: "missing_runtime_lib", Severity: know.Error, Fix: []string{"`" + fix + "`"}, Mend: Mend{Rebuild: true}}}}
		if got := strings.Join(CureOf(r, patientWith(t, healthyFiles())).Again, " "); got != want {
			t.Errorf("%s: %q, not %q", fix, got, want)
		}
	}
}

// LD_PRELOAD puts its libraries into every process.
func TestPreloaded(t *testing.T) {
	for want, l := range map[string]machine.LoadedLibrary{
		"DRV008 remove /usr/local/cuda/lib64/stubs/libcuda.so.1": {Name: "libcuda.so.1", Path: "/usr/local/cuda/lib64/stubs/libcuda.so", Size: 70000},
		"LD001 remove /opt/nccl/libnccl.so.2":                    {Name: "libnccl.so.2", Path: "/opt/nccl/libnccl.so.2", Wheel: site + "/nvidia/nccl/lib/libnccl.so.2"},
		"":                                                       {Name: "libnvjemalloc.so.2", Path: "/usr/lib/libnvjemalloc.so.2"},
	} {
		l.Via, l.By = "LD_PRELOAD", "python"
		_, l.Entry, _ = strings.Cut(want, "remove ")
		files := healthyFiles()
		files.Loaded = append(files.Loaded, l)
		p := patientWith(t, files)
		p.Machine.Env["LD_PRELOAD"] = l.Entry
		got := ""
		for _, f := range Examine(know.Embedded(), p).Findings {
			if f.Severity > know.Note && len(f.Mend.Fixes) == 1 {
				got = f.Check + " " + f.Mend.Fixes[0].Action + " " + f.Mend.Fixes[0].Value
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", l.Entry, got, want)
		}
	}
}
