package probe

import (
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"

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
	if diff := cmp.Diff(want, loaderPath(h)); diff != "" {
		t.Error(diff)
	}
}
