package libraries

import (
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

func TestLibraryDirs(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"usr/local/cuda-12.3/lib64/libcudnn.so.9.1.0":  "",
		"usr/local/cuda-12.3/lib64/libcublas.so.12":    "",
		"usr/local/cuda-12.3/lib64/libcublas_static.a": "",
		"opt/site/lib/libsite.so.1":                    "",
		"home/me/.bashrc":                              "# LD_LIBRARY_PATH=/usr/local/cuda-12.3/lib64\nexport LD_LIBRARY_PATH=/usr/local/cuda-12.3/lib64/extra\nexport LD_LIBRARY_PATH=/usr/local/cuda-12.3/lib64:$LD_LIBRARY_PATH\n",
		"etc/profile.d/site.sh":                        "LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH:/opt/site/lib\"\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"HOME=/home/me", "LD_LIBRARY_PATH=/usr/local/cuda-12.3/lib64::/opt/site/lib:/missing:/opt/site/lib"}})
	want := []machine.LibraryDir{
		{Path: "/usr/local/cuda-12.3/lib64", Files: []string{"libcublas.so.12", "libcudnn.so.9.1.0"}, From: "~/.bashrc:3",
			Origins: []machine.Origin{{Kind: machine.OriginProfile, File: "~/.bashrc", Line: 3}}},
		{Path: "/opt/site/lib", Files: []string{}, From: "/etc/profile.d/site.sh:1",
			Origins: []machine.Origin{{Kind: machine.OriginProfile, File: "/etc/profile.d/site.sh", Line: 1}}},
		{Path: "/missing", Files: []string{}},
	}
	if diff := cmp.Diff(want, Path(h)); diff != "" {
		t.Error(diff)
	}
}

// A library of another environment has no version in its name: its package has.
func TestVersionOf(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"e/nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA": "", "e/nvidia_cudnn_frontend-1.2.dist-info/METADATA": "", "e/nvidia_nccl_cu12-\x1b.dist-info/METADATA": ""})
	h := sysroot.New(sysroot.Options{Root: root, OS: "linux"})
	for file, want := range map[string]string{
		"/e/nvidia/cudnn/lib/libcudnn.so.9": "9.1.0.70", "/e/nvidia/cudnn/lib/libcudnn.so.9.2.0": "9.2.0", "/e/nvidia/nccl/lib/libnccl.so.2": "",
		"/e/nvidia/cufft/lib/libcufft.so.11": "", "/opt/nvidia/libcudnn.so.9": "", "/x/libcudnn.so.9": "",
	} {
		if got := versionOf(h, file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// What the loader's cache brings is of a line of the loader's configuration.
func TestLoadedFrom(t *testing.T) {
	root := testenv.Tree(t, map[string]string{
		"etc/ld.so.conf":             "include /etc/ld.so.conf.d/*.conf\n",
		"etc/ld.so.conf.d/cuda.conf": "# the toolkit's\n/opt/cuda\n",
	})
	cached := []machine.LoadedLibrary{{Name: "libcublasLt.so.12", Via: "ld.so.cache", Dir: "/opt/cuda", Path: "/opt/cuda/libcublasLt.so.12.1.3", Wheel: "/env/x"}}
	stub := []machine.LoadedLibrary{{Name: "libcuda.so.1", Via: "ld.so.cache", Dir: "/opt/cuda/stubs", Path: "/opt/cuda/stubs/libcuda.so"}}
	testenv.Write(t, root+"/etc/ld.so.conf.d/stubs.conf", "/opt/cuda/stubs\n")
	if loadedFrom(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), stub); len(stub[0].Origins) != 1 || stub[0].Origins[0].Line != 1 {
		t.Error(stub)
	}
	loadedFrom(sysroot.New(sysroot.Options{Root: root, OS: "linux"}), cached)
	if diff := cmp.Diff([]machine.Origin{{Kind: machine.OriginLoader, File: "/etc/ld.so.conf.d/cuda.conf", Line: 2}}, cached[0].Origins); diff != "" {
		t.Error(diff)
	}
}
