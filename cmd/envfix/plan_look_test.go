package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// What the data does not know of a release is asked of its index, once a day: of a
// system that nobody could read wheels of, too.
func TestPlanLooks(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where answers are kept
	wheel := func(name, version, python string) testindex.Wheel {
		return testindex.Wheel{Name: name, Version: version, Tag: python + "-" + python + "-win_amd64"}
	}
	x := testindex.Serve(t, wheel("torch", "2.15.0+cu130", "cp312"), wheel("torchvision", "0.29.2+cu130", "cp312"), wheel("torch", "2.15.0+cu130", "cp313"))
	plan := func(python string, more ...string) string {
		t.Helper()
		code, said := lockSays(t, t.TempDir(), append([]string{"plan", "--gpu", "RTX 4090", "--driver", "580.95.05", "--os", "windows", "--python", python,
			"--mirror", "https://download.pytorch.org/whl/cu130=" + x.URL, "--mirror", "https://download.pytorch.org/whl/cu132=" + x.URL, "torch", "torchvision"}, more...)...)
		if code != fail.OK {
			t.Fatalf("exit %d: %s", code, said)
		}
		return said
	}
	for _, c := range []struct {
		python, want string
		more         []string
	}{
		{"3.12", "torch 2.15.0, build cu130", nil},
		{"3.12", "lists its wheel (asked on ", nil},
		{"3.13", "torch 2.14.1", nil}, // no torchvision there
		{"3.13", "its index does not list this wheel", nil},
		{"3.12", "torch 2.14.1", []string{"--quick"}},
		{"3.12", "torch 2.14.1", []string{"--offline"}},
	} {
		if said := plan(c.python, c.more...); !strings.Contains(strings.Join(strings.Fields(said), " "), c.want) {
			t.Errorf("%s %v: no %q in\n%s", c.python, c.more, c.want, said)
		}
	}
	if n := len(x.Requests()); n != 6 {
		t.Errorf("%d requests: %v", n, x.Requests())
	}
	if said := plan("3.12", "--json"); !strings.Contains(said, `"sha256"`) || !strings.Contains(said, `"listed"`) {
		t.Error("the plan does not name the file")
	}
	code, said := lockSays(t, t.TempDir(), "why", "torch==2.15.0", "--gpu", "RTX 4090", "--driver", "580.95.05", "--os", "windows", "--python", "3.12",
		"--mirror", "https://download.pytorch.org/whl/cu130="+x.URL)
	if code != fail.OK || !strings.Contains(said, "torch 2.15.0+cu130  chosen") {
		t.Errorf("why, exit %d: %s", code, said)
	}
	ruled := t.TempDir()
	policy := "[policy]\nmirrors = [\"https://download.pytorch.org/whl/cu130=" + x.URL + "\"]\n"
	if err := os.WriteFile(filepath.Join(ruled, "envfix.toml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	code, said = lockSays(t, ruled, "plan", "--gpu", "RTX 4090", "--driver", "580.95.05", "--os", "windows", "--python", "3.12", "torch")
	if code != fail.OK || !strings.Contains(said, "torch 2.15.0, build cu130") {
		t.Errorf("the team's mirror was not asked: exit %d: %s", code, said)
	}
	x.Break("/simple/torch/", testindex.Unavailable)
	if said := plan("3.11"); !strings.Contains(said, "not known whether this wheel exists") {
		t.Errorf("an index that is away: %s", said)
	}
}

// What no row tells of is read on the index before torch is chosen: what needs no torch
// gets none, and what is compiled at its first use is said so.
func TestPlanReads(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	x := testindex.Serve(t,
		testindex.Wheel{Name: "nvidia-nccl-cu12", Version: "2.27.5", Tag: "py3-none-any"}, testindex.Wheel{Name: "torch", Version: "2.14.1", Tag: "py3-none-any"},
		testindex.Wheel{Name: "boostling", Version: "3.1", Tag: "py3-none-manylinux_2_28_x86_64", Requires: []string{"nvidia-nccl-cu12"}},
		testindex.Wheel{Name: "splatling", Version: "1.0", Tag: "py3-none-any", Requires: []string{"torch"}, Files: map[string]string{"splatling/a.cu": ""}})
	ask := func(command, name, driver string, more ...string) string {
		t.Helper()
		_, said := lockSays(t, t.TempDir(), append([]string{command, "--gpu", "A100", "--driver", driver, "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.35",
			"--python", "3.12", "--mirror", "default=" + x.URL, name}, more...)...)
		return strings.Join(strings.Fields(said), " ")
	}
	for _, c := range []struct {
		name, driver, want string
		more               []string
	}{
		{"boostling", "550.54.15", "choice boostling==3.1 CUDA 12", nil},
		{"boostling", "470.82.01", "driver update to branch", nil},
		{"splatling", "550.54.15", "splatling 1.0 has no compiled GPU code", nil},
		{"boostling", "550.54.15", "nobody here knows boostling", []string{"--quick"}},
	} {
		if said := ask("plan", c.name, c.driver, c.more...); !strings.Contains(said, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, said)
		}
	}
	for name, want := range map[string]string{"boostling": "boostling 3.1 runs: as it is here", "splatling": "choice torch 2.14.1"} {
		if said := ask("why", name, "550.54.15"); !strings.Contains(said, want) {
			t.Errorf("why %s: no %q in\n%s", name, want, said)
		}
	}
}

// A release that no row tells of is read although its package has rows: what is for every
// system by its name may hold the libraries of one.
func TestPlanReadsTheReleaseThatIsMeant(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	x := testindex.Serve(t, testindex.Wheel{Name: "bitsandbytes", Version: "0.41.0", Files: map[string]string{"bitsandbytes/libbitsandbytes_cuda118.so": "libcublas.so.11"}})
	code, said := lockSays(t, t.TempDir(), "plan", "--gpu", "RTX 3060", "--driver", "551.61", "--os", "windows", "--python", "3.10", "--mirror", "default="+x.URL,
		"bitsandbytes==0.41.0")
	if code != fail.NoSolution || !strings.Contains(strings.Join(strings.Fields(said), " "), "libraries are for linux alone") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// What a plan has no step of without another driver is not done: apply says so by its code.
func TestApplyWaitsForTheDriver(t *testing.T) {
	code, said := lockSays(t, t.TempDir(), "apply", "--yes", "--quick", "--gpu", "H100", "--driver", "550.54.15", "--os", "linux", "--arch", "x86_64",
		"--libc", "glibc-2.35", "--python", "3.12", "vllm==0.25.1")
	if code != fail.NoSolution || !strings.Contains(said, "nothing was done: this needs another driver") {
		t.Errorf("exit %d: %s", code, said)
	}
}
