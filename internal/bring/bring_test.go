package bring

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/testindex"
)

// uv is taken out of the newest wheel for this system whose hash is right.
func TestUV(t *testing.T) {
	_, arch := machine.NormalPlatform(runtime.GOOS, runtime.GOARCH)
	if runtime.GOOS != "linux" {
		t.Skip("the wheels are Linux's")
	}
	tag := "py3-none-manylinux_2_17_" + arch
	wheel := func(version, tag, says string) testindex.Wheel {
		return testindex.Wheel{Name: "uv", Version: version, Tag: tag, Files: map[string]string{"uv-" + version + ".data/scripts/uv": "#!/bin/sh\necho " + says + "\n"}}
	}
	index := testindex.Serve(t, wheel("0.9.9", tag, "old"), wheel("0.13.9", tag, "new"), wheel("0.13.9", "py3-none-win_"+arch, "windows"), wheel("0.14.0rc1", tag, "early"))
	dir := filepath.Join(t.TempDir(), "uv")
	if err := UV(t.Context(), index.URL, dir, io.Discard); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(dir, "bin", "uv")).CombinedOutput(); err != nil || string(out) != "new\n" {
		t.Errorf("%s %v", out, err)
	}
	for _, fault := range []testindex.Fault{testindex.WrongHash, testindex.NoHash} {
		index.Break("/simple/uv/", fault)
		if err := UV(t.Context(), index.URL, filepath.Join(t.TempDir(), "uv"), io.Discard); err == nil {
			t.Errorf("taken with %s", fault)
		}
		index.Mend("/simple/uv/")
	}
	other := filepath.Join(t.TempDir(), "uv")
	if err := UV(t.Context(), testindex.Serve(t).URL, other, io.Discard); err == nil {
		t.Error("an index without uv")
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("something was left behind")
	}
}
