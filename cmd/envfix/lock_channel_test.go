package main

import (
	"path/filepath"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// A lock of a nightly pins its day: the newest of the nightly index when it was made,
// and no other later. Nothing else of that index is taken.
func TestLockNightly(t *testing.T) {
	nightly := testindex.Serve(t, testindex.Wheel{Name: "numpy", Version: "9.0"})
	plain := testindex.Serve(t, testindex.Wheel{Name: "numpy", Version: "2.3.0"})
	day := func(day string) {
		w := testindex.Torch("2.16.0.dev"+day+"+cu132", "13.2", "sm_90")
		w.Tag, w.Requires = "cp312-cp312-manylinux_2_28_x86_64", []string{"numpy", "triton==3.10.0+git" + day[6:]}
		nightly.Add(w)
		nightly.Add(testindex.Wheel{Name: "triton", Version: "3.10.0+git" + day[6:]})
	}
	day("20261118")
	day("20261119")
	args := []string{"lock", "--mirror", "default=" + plain.URL, "--mirror", "https://download.pytorch.org/whl/nightly/cu132=" + nightly.URL}
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "envfix.toml"), "requirements = [\"torch\"]\n[targets]\nh = 'gpu=H100 driver=580 python=3.12 channel=nightly'\n")
	wantExit(t, lockIn(t, dir, args...), fail.OK)
	check := func(when string) {
		t.Helper()
		k := lockedPackages(t, "h")
		if k["torch"] != "2.16.0.dev20261119+cu132" || k["triton"] != "3.10.0+git19" || k["numpy"] != "2.3.0" {
			t.Errorf("%s: %v", when, k)
		}
	}
	check("made")
	day("20261120")
	wantExit(t, lockIn(t, dir, args...), fail.OK)
	check("made again")
	wantExit(t, lockIn(t, dir, append(args, "--check", "--offline")...), fail.OK)
	wantExit(t, lockIn(t, dir, append(args, "--upgrade")...), fail.OK)
	if k := lockedPackages(t, "h"); k["torch"] != "2.16.0.dev20261120+cu132" {
		t.Errorf("upgraded: %v", k)
	}
}
