package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/planning"
	"envfix/internal/propose"
	"envfix/internal/testindex"
	"envfix/matrix"
)

// What uv cannot resolve is said before anything is downloaded; an index that is away
// says nothing of the packages.
func TestProposedPackages(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where answers are kept
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "needy", Version: "1.0", Requires: []string{"numpy>=99"}})
	x.Add(testindex.Wheel{Name: "fine", Version: "1.0"})
	x.Add(testindex.Wheel{Name: "picky", Version: "1.0", Requires: []string{"numpy>=99"}}, testindex.Wheel{Name: "picky", Version: "2.0"})
	dir := t.TempDir()
	call := func(index string, args ...string) int {
		return lockIn(t, dir, append([]string{"plan", "--gpu", "RTX 5090", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.28",
			"--python", "3.12", "--mirror", "default=" + index, "torch"}, args...)...)
	}
	wantExit(t, call(x.URL, "needy", "--quick"), fail.OK)
	wantExit(t, call(x.URL, "needy"), fail.NoSolution)
	wantExit(t, call(x.URL, "fine"), fail.OK)
	x.Add(testindex.Wheel{Name: "lib", Version: "1.0", Requires: []string{"numpy>=99"}}, testindex.Wheel{Name: "uses", Version: "1.0", Requires: []string{"lib"}})
	writeText(t, filepath.Join(dir, "requirements.txt"), "uses\nlib @ git+https://host.example/lib\n") // that lib, and not the index's
	wantExit(t, call(x.URL, "-r", "requirements.txt"), fail.OK)
	if code, said := lockSays(t, dir, "plan", "--gpu", "RTX 5090", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.28", "--python", "3.12",
		"--mirror", "default="+x.URL, "torch", "fine"); code != fail.OK || strings.Contains(said, "nobody here knows") {
		t.Errorf("exit %d; what uv found is known: %s", code, said)
	}
	if _, said := lockSays(t, dir, "plan", "--gpu", "RTX 5090", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.28", "--python", "3.12",
		"--mirror", "default="+x.URL, "torch", "picky==1.0"); !strings.Contains(said, "picky 2.0 goes with the rest; you asked for picky==1.0") {
		t.Errorf("no version that would work is named: %s", said)
	}
	x.Add(testindex.Wheel{Name: "taken", Version: "1.1"}, testindex.Wheel{Name: "away", Version: "2.0"})
	if _, said := lockSays(t, dir, "plan", "--gpu", "RTX 5090", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.28", "--python", "3.12",
		"--mirror", "default="+x.URL, "torch", "taken==1.0", "away==1.0", "fine"); !strings.Contains(strings.Join(strings.Fields(said), " "), "taken 1.1, away 2.0 go with the rest; you asked for taken==1.0, away==1.0") {
		t.Errorf("of two versions that the index has no more nothing is said: %s", said)
	}
	x.Add(
		testindex.Wheel{Name: "vllm", Version: "0.33.0", Requires: []string{"torch==2.14.0", "numpy>=99"}},
		testindex.Wheel{Name: "vllm", Version: "0.32.0", Requires: []string{"torch==2.13.0"}},
		testindex.Wheel{Name: "torchaudio", Version: "2.11.0"}, // vllm requires the two
		testindex.Wheel{Name: "torchvision", Version: "0.29.0"},
		testindex.Wheel{Name: "torchvision", Version: "0.28.0"},
		testindex.Wheel{Name: "torch", Version: "2.14.0"},
		testindex.Wheel{Name: "torch", Version: "2.13.0"},
	)
	if _, said := lockSays(t, dir, "plan", "--gpu", "H100", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.35", "--python", "3.12",
		"--only-index", "default", "--mirror", "default="+x.URL, "vllm"); !strings.Contains(said, "vllm 0.32.0") {
		t.Errorf("no older release of what was chosen is taken: %s", said)
	}
	wantExit(t, call("http://127.0.0.1:1/simple", "fine"), fail.OK) // with a warning
	t.Setenv("UV_CACHE_DIR", filepath.Join(dir, "cache"))
	if code := run(context.Background(), []string{"envfix", "apply", "--yes", "--no-lock", "--cpu", "--only-index", "default", "--python", "3.12",
		"--mirror", "default=" + x.URL, "torch", "needy"}); code != fail.NoSolution {
		t.Errorf("apply: exit %d", code)
	}
	if made, _ := filepath.Glob(filepath.Join(dir, ".venv*")); made != nil {
		t.Errorf("apply made %v", made)
	}
}

// The command that a plan names goes through with what the project's sources import: it agrees
// to what is built of that, and does not ask for what would be refused.
func TestNextCloses(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "fine", Version: "1.0"}, testindex.Wheel{Name: "pyyaml", Version: "6.0", Sdist: true},
		testindex.Wheel{Name: "requests", Version: "2.0", Requires: []string{"numpy>=99"}})
	for imports, want := range map[string][2]string{
		"yaml":     {"--closure --allow-build pyyaml==6.0", ""},
		"requests": {"", "`--closure` would be refused"},
	} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where answers are kept
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, "requirements.txt"), "torch\nfine\n")
		writeText(t, filepath.Join(dir, "main.py"), "import "+imports+"\n")
		_, said := lockSays(t, dir, "plan", ".", "--gpu", "RTX 5090", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.28",
			"--python", "3.12", "--mirror", "default="+x.URL, "-v")
		said = strings.Join(strings.Fields(strings.ReplaceAll(said, "\\\n", " ")), " ")
		_, next, _ := strings.Cut(said, " next ")
		if !strings.Contains(said, want[1]) || !strings.Contains(next, want[0]) || want[0] == "" && strings.Contains(next, "--closure") {
			t.Errorf("%s: %s", imports, said)
		}
	}
}

// A name that is a slip is refused before an index hears of it: somebody may have taken it.
func TestMisnamedIsNotAsked(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where answers are kept
	x := teamIndex(t)
	x.Add(testindex.Wheel{Name: "tourch", Version: "1.0"})
	code, said := lockSays(t, t.TempDir(), "plan", "--gpu", "RTX 5090", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.28",
		"--python", "3.12", "--mirror", "default="+x.URL, "torch", "tourch")
	if code != fail.Usage || !strings.Contains(said, "did you mean torch?") {
		t.Errorf("exit %d: %s", code, said)
	}
	if asked := strings.Join(x.Requests(), "\n"); strings.Contains(asked, "tourch") {
		t.Errorf("the index was asked for it:\n%s", asked)
	}
}

// An answer of older data is no answer to the same question: they may come newer than the program.
func TestKeptByData(t *testing.T) {
	l, q := &propose.Loop{}, planning.Question{Matrix: &matrix.Matrix{Version: "2026.11.2"}, Machine: machine.Machine{}}
	before := keyOf(l, q)
	q.Matrix = &matrix.Matrix{Version: "2026.12.1"}
	if after := keyOf(l, q); before == "" || before == after || builtAt().IsZero() {
		t.Errorf("%q %q %v", before, after, builtAt())
	}
}
