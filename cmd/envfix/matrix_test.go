package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/data"
	"envfix/internal/fail"
	"envfix/internal/testindex"
	"envfix/internal/ui"
	release "envfix/internal/update"
	"envfix/internal/version"
	"envfix/matrix"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMatrixScripts runs the stories of testdata/matrix. Each has an index on
// loopback, $INDEX, that carries torch 2.15.0 as the data says it is, and more
// commands:
//
//	break PATH FAULT    a path of the index misbehaves (testindex)
//	mend PATH           and no longer does
//	serve DIR           a directory at $SERVED; below $SERVED/elsewhere the server
//	                    sends everybody to another host
//	release VERSION DIR [CREATED EXPIRES]
//	                    a release of the built-in data under another version,
//	                    signed with the key in $KEYS
func TestMatrixScripts(t *testing.T) {
	m := matrix.Embedded()
	public, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/matrix", RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			x := testindex.Serve(e.T().(testing.TB), torchOnIndex(m, "2.15.0")...)
			e.Values["index"], e.Values["key"] = x, key
			home := filepath.Join(e.WorkDir, "home")
			for k, v := range map[string]string{"HOME": home, "NO_COLOR": "1", "ENVFIX_TODAY": "2026-11-21", "INDEX": x.URL, "KEYS": public.String() + " the team", "ENVFIX_NVML": "off"} {
				e.Setenv(k, v)
			}
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"break": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Value("index").(*testindex.Index).Break(args[0], testindex.Fault(strings.Join(args[1:], " ")))
			},
			"mend": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Value("index").(*testindex.Index).Mend(args[0])
			},
			"serve": func(ts *testscript.TestScript, _ bool, args []string) {
				mux := http.NewServeMux()
				mux.Handle("/", http.FileServer(http.Dir(ts.MkAbs(args[0]))))
				mux.Handle("/elsewhere/", http.RedirectHandler("http://localhost:1/", http.StatusFound))
				s := httptest.NewServer(mux)
				ts.Defer(s.Close)
				ts.Setenv("SERVED", s.URL)
			},
			"release": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(makeRelease(ts.Value("key").(minisign.PrivateKey), ts.MkAbs(args[1]), args[0], append(args[2:], "2026-11-20", "2027-05-01")))
			},
		},
	})
}

// makeRelease writes a release of the built-in data to a directory.
func makeRelease(key minisign.PrivateKey, dir, v string, days []string) error {
	if err := os.CopyFS(dir, data.FS); err != nil {
		return err
	}
	head := filepath.Join(dir, "matrix.yaml")
	text, err := os.ReadFile(head)
	if err != nil {
		return err
	}
	text = []byte(strings.Replace(string(text), `version: "`, `version: "`+v+`" # "`, 1))
	if err := os.WriteFile(head, text, 0o644); err != nil {
		return err
	}
	m, err := release.NewManifest(os.DirFS(dir))
	if err != nil {
		return err
	}
	m.Version, m.Created, m.Expires = version.MustDotted(v), days[0], days[1]
	if err := os.WriteFile(filepath.Join(dir, release.ManifestName), m.Encode(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, release.ManifestName+".minisig"), minisign.Sign(key, m.Encode()), 0o644)
}

// torchOnIndex makes the wheels of one release of torch, and of its companions,
// as the data describes them: what a proof of them must find to agree.
func torchOnIndex(m *matrix.Matrix, torch string) []testindex.Wheel {
	r, _ := m.Release(torch)
	var wheels []testindex.Wheel
	for _, b := range r.Builds {
		if !b.Default {
			continue
		}
		for _, python := range pythonsOf(b) {
			wheels = append(wheels, torchWheelOf(b, python))
		}
		platform := platformTag(b)
		wheels = append(wheels,
			testindex.Wheel{Name: "torchvision", Version: r.Companions["torchvision"].String(), Tag: "py3-none-" + platform, Requires: []string{"torch>=2.14.0"},
				Files: map[string]string{"torchvision/version.py": "__version__ = '0.29.2+" + b.Label + "'\n"}},
			testindex.Wheel{Name: "torchaudio", Version: "2.11.0", Tag: "py3-none-" + platform,
				Files: map[string]string{"torchaudio/version.py": "__version__ = '2.11.0+" + strings.Replace(b.Label, "cu132", "cu130", 1) + "'\n"}})
	}
	return wheels
}

func pythonsOf(b *matrix.Build) []string {
	var list []string
	for n := 7; n < 30; n++ {
		v := version.MustPython(fmt.Sprintf("3.%d", n))
		if v.Compare(b.PythonMin) >= 0 && v.Compare(b.PythonMax) <= 0 {
			list = append(list, v.String())
		}
	}
	return append(list, b.FreeThreaded...)
}

func platformTag(b *matrix.Build) string {
	switch b.OS {
	case "windows":
		return strings.NewReplacer("x86_64", "win_amd64", "arm64", "win_arm64").Replace(b.Arch)
	case "macos":
		return "macosx_" + strings.ReplaceAll(b.MacOSMin.String(), ".", "_") + "_" + b.Arch
	}
	return "manylinux_" + strings.ReplaceAll(b.Glibc.String(), ".", "_") + "_" + b.Arch
}

func torchWheelOf(b *matrix.Build, python string) testindex.Wheel {
	tag := "cp" + strings.ReplaceAll(strings.TrimSuffix(python, "t"), ".", "") + "-cp" + strings.ReplaceAll(python, ".", "")
	label, cuda := "+"+b.Label, "None"
	if b.Label == "mps" {
		label = ""
	}
	w := testindex.Wheel{Name: "torch", Version: b.Release.Torch.String(), Tag: tag + "-" + platformTag(b), Requires: []string{"filelock"}, Files: map[string]string{}}
	if !b.CUDA.IsZero() {
		cuda = "'" + b.CUDA.MajorMinor() + "'"
		cu := fmt.Sprintf("-cu%d", b.CUDA.Major())
		linux := `; platform_system == "Linux"`
		w.Requires = append(w.Requires, "cuda-toolkit[cublas,cudart,cufft,cusolver,cusparse]=="+b.CUDA.String()+linux, "nvidia-cudnn"+cu+"=="+b.CuDNN.String()+linux,
			"nvidia-nccl"+cu+"=="+b.NCCL.String()+linux, "nvidia-nvshmem"+cu+"=="+b.Pins["nvshmem"]+linux, "nvidia-cusparselt"+cu+"=="+b.Pins["cusparselt"]+linux, "triton~="+b.Triton.String()+linux)
		list := append(ui.CodeWords("sm_", b.Native), ui.CodeWords("compute_", b.PTX)...)
		w.Files["torch/lib/libtorch_python.so"] = "\x7fELF" + strings.Join(list, " ") + "\x00"
	}
	w.Files["torch/version.py"] = fmt.Sprintf("__version__ = '%s%s'\ncuda: Optional[str] = %s\n", b.Release.Torch, label, cuda)
	return w
}

// A release that is taken out of the data and harvested again comes back as it
// was, but for what no wheel says.
func TestHarvestBringsARowBack(t *testing.T) {
	m := matrix.Embedded()
	x := testindex.Serve(t, torchOnIndex(m, "2.15.0")...)
	harvestAndCompare(t, m, x.URL, "torch 2.15.0: date: 2026-10-28 → 2026-01-02") // the test index's upload day
}

// TestE2EMatrix does the same on the installer's default index, and proves three
// releases of it.
func TestE2EMatrix(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("reads the default index: set ENVFIX_E2E=1, or run `make e2e`")
	}
	t.Parallel() // it waits for the index
	for _, torch := range []string{"2.15.0", "2.8.0", "2.0.1"} {
		if code := run(t.Context(), []string{"envfix", "matrix", "prove", "torch==" + torch, "--verbose"}); code != fail.OK {
			t.Errorf("torch %s: exit %d", torch, code)
		}
	}
	m := matrix.Embedded()
	harvestAndCompare(t, m, "")
}

func harvestAndCompare(t *testing.T, m *matrix.Matrix, index string, also ...string) {
	t.Helper()
	const torch = "2.15.0"
	dir := t.TempDir()
	if err := os.CopyFS(dir, data.FS); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "torch", torch[:strings.LastIndexByte(torch, '.')]+".yaml")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	args := []string{"envfix", "matrix", "harvest", "torch==" + torch, "--out", file}
	if index != "" {
		args = append(args, "--index", index)
	}
	if code := run(t.Context(), args); code != fail.OK {
		t.Fatalf("exit %d", code)
	}
	got, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	var differ []string
	for _, c := range matrix.Diff(m, got) {
		told := c.Field == "citation" || c.Field == "notes" // what people wrote
		gone := c.New == "" && c.Field == ""                // builds that no wheel of this index is for
		if !told && !gone {
			differ = append(differ, c.String())
		}
	}
	if index == "" { // torchaudio 2.11.1 came after the data's day and declares torch>=2.11: it is of no torch alone
		differ = slices.DeleteFunc(differ, func(line string) bool { return strings.Contains(line, "companions: torchaudio ") })
		for i := range differ {
			differ[i] = strings.Replace(differ[i], "→ torchaudio 2.11.1, ", "→ ", 1)
		}
	}
	// torchcodec declares no torch, so no wheel says which goes with it.
	r, _ := m.Release(torch)
	want := append(also, fmt.Sprintf("torch %s: companions: torchcodec %s, torchvision %s, triton %s → torchvision %s, triton %s", torch, r.Companions["torchcodec"],
		r.Companions["torchvision"], r.Companions["triton"], r.Companions["torchvision"], r.Companions["triton"]))
	if d := cmp.Diff(want, differ); d != "" {
		t.Error(d)
	}
}

// The data grows old quietly; plans say so.
func TestMatrixAge(t *testing.T) {
	m := &matrix.Matrix{Version: "2026.11.2", Date: "2026-11-21"}
	for today, want := range map[string]bool{"2026-11-21": false, "2027-02-19": false, "2027-02-20": true, "2026-01-01": false, "": false} {
		if got := matrixAge(m, today); (got != "") != want {
			t.Errorf("on %s: %q", today, got)
		}
	}
}
