//go:build linux

package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/testindex"

	"github.com/google/go-cmp/cmp"
)

// A torn last line is what a crash leaves; any other damage stops.
func TestJournalDamage(t *testing.T) {
	b := newBench(t)
	b.mustApply(b.plan("2.13.0+cu126"))
	path := filepath.Join(b.dir, journalName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	flipped := bytes.Clone(good)
	flipped[len(lines[0])+20] ^= 1
	tests := []struct {
		name string
		text []byte
		ok   bool
	}{
		{"torn last line", good[:len(good)-10], true},
		{"torn last line without its end", good[:len(good)-1], true},
		{"empty", nil, true},
		{"a byte in the middle", flipped, false},
		{"a line is gone", append(bytes.Clone(lines[0]), bytes.Join(lines[2:], nil)...), false},
		{"a line twice", append(bytes.Clone(good), lines[0]...), true}, // the last line alone: as torn
		{"not a journal", []byte("hello\nworld\nagain\n"), false},
		{"NUL bytes at the end, as a power loss leaves", append(bytes.Clone(good), make([]byte, 100)...), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
			b := &bench{T: t, dir: b.dir, python: b.python, site: b.site}
			_, err := b.apply(context.Background(), b.plan("2.14.1+cu126", func(p *plan.Plan) { p.Steps[1].Run.Argv[0] = "false" }))
			if want := map[bool]int{true: fail.Failed, false: fail.Integrity}[tt.ok]; kind(t, err) != want {
				t.Errorf("got %v", err)
			}
			if got := b.torch(); got != "2.13.0+cu126" {
				t.Errorf("torch: got %q", got)
			}
			if !tt.ok {
				if did, err := b.open().Abandon(); err != nil || !did {
					t.Errorf("abandon: %v, %v", did, err)
				}
				if _, err := b.apply(context.Background(), b.plan("2.14.1+cu126", func(p *plan.Plan) { p.Steps[1].Run.Argv[0] = "false" })); kind(t, err) != fail.Failed {
					t.Errorf("after --abandon: %v", err)
				}
			}
		})
	}
}

// Whatever bytes the journal has, reading it ends, and what was written reads
// back.
func FuzzJournal(f *testing.F) {
	line, err := encodeEntry(Entry{Seq: 1, State: Begin, Plan: "sha256:00", Note: "torch \"2\" é\n"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(append(line, line...))
	f.Add([]byte("{\"seq\":1,\"crc32c\":\"00000000\"}\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, good, err := parseJournal("j", b)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			line, err := encodeEntry(e)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, line...)
		}
		if back, _, err := parseJournal("j", again); err != nil || cmp.Diff(entries, back) != "" || good > len(b) {
			t.Errorf("read %d entries of %q, and %d of what they encode to: %v", len(entries), b, len(back), err)
		}
	})
}

// Two applies at once: one works, the other says so at once. One that is killed
// holds nobody up.
func TestTwoAtOnce(t *testing.T) {
	b := newBench(t)
	e := b.open()
	if err := e.prepare(); err != nil {
		t.Fatal(err)
	}
	lock, err := system.TryLock(e.root, lockName)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.apply(context.Background(), b.plan("2.14.1+cu126"))
	b.wantKind(err, fail.Busy)
	if _, err := e.Rollback(""); kind(t, err) != fail.Busy {
		t.Errorf("rollback: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	b.mustApply(b.plan("2.14.1+cu126"))
}

func TestUmasks(t *testing.T) {
	if _, err := emptyVenv(); err != nil { // which all tests copy, with its modes
		t.Fatal(err)
	}
	for _, mask := range []int{0o000, 0o077, 0o777} {
		t.Run(fmt.Sprintf("%03o", mask), func(t *testing.T) {
			old := syscall.Umask(mask)
			defer syscall.Umask(old)
			b := newBench(t)
			if err := os.Chmod(b.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			b.mustApply(b.plan("2.14.1+cu126"))
			if got := b.torch(); got != "2.14.1+cu126" {
				t.Errorf("torch: got %q", got)
			}
			for _, name := range []string{journalName, lockName} {
				if info, err := os.Stat(filepath.Join(b.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
				}
			}
		})
	}
}

func TestOddPaths(t *testing.T) {
	b := newBench(t)
	b.dir = filepath.Join(b.dir, "with space", "quote's \"q\"", "line\nbreak", "日本 é", "-rf", "%s$HOME", "not utf-8 \xff\xfe", strings.Repeat("n", 250))
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.mustApply(b.plan("2.14.1+cu126"))
	if got := b.torch(); got != "2.14.1+cu126" {
		t.Errorf("torch: got %q\n%s", got, b.out.String())
	}
}

// State that another user could have planted is not believed.
func TestThreat12TamperedState(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files of another user can only be made by root")
	}
	b := newBench(t)
	b.mustApply(b.plan("2.13.0+cu126"))
	state := filepath.Join(b.dir, stateDir)
	if err := os.Chown(state, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	_, err := b.apply(context.Background(), b.plan("2.14.1+cu126"))
	b.wantKind(err, fail.Integrity)
	if err := errors.Join(os.Chown(state, 0, 0), os.Chmod(b.dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	_, err = b.apply(context.Background(), b.plan("2.14.1+cu126"))
	b.wantKind(err, fail.Preflight)
	if err := errors.Join(os.Chmod(b.dir, 0o755), os.Rename(state, state+".real"), os.Symlink(".envfix.real", state)); err != nil {
		t.Fatal(err)
	}
	_, err = b.apply(context.Background(), b.plan("2.14.1+cu126"))
	b.wantKind(err, fail.Integrity)
}

// An index that a hostile configuration names is never asked: the plan names the
// only one, in five ways of configuring pip and uv.
func TestThreat04DependencyConfusion(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			b, good := newBench(t), torchIndex(t)
			evil := testindex.Serve(t, testindex.Torch("99.0", "12.6"), testindex.Wheel{Name: "num-py", Version: "99.0"}, testindex.Wheel{Name: "torchvision", Version: "99.0"})
			p := b.real(tool, good, "torch==2.14.1", "torchvision")
			home := t.TempDir()
			conf := "[global]\nextra-index-url = " + evil.URL + "\nindex-url = " + evil.URL + "\n[install]\ntarget = " + home + "/target\n"
			for _, path := range []string{"/.config/pip/pip.conf", "/.pip/pip.conf"} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(home+path), 0o755), os.WriteFile(home+path, []byte(conf), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			uv := "extra-index-url = [\"" + evil.URL + "\"]\nindex-strategy = \"unsafe-best-match\"\n"
			if err := errors.Join(os.MkdirAll(home+"/.config/uv", 0o755), os.WriteFile(home+"/.config/uv/uv.toml", []byte(uv), 0o644), os.WriteFile(b.dir+"/uv.toml", []byte(uv), 0o644)); err != nil {
				t.Fatal(err)
			}
			for k, v := range map[string]string{"HOME": home, "PIP_EXTRA_INDEX_URL": evil.URL, "PIP_INDEX_URL": evil.URL, "UV_EXTRA_INDEX_URL": evil.URL, "UV_INDEX": evil.URL,
				"UV_INDEX_STRATEGY": "unsafe-best-match", "PIP_TARGET": home + "/target", "PIP_CONFIG_FILE": home + "/.pip/pip.conf"} {
				t.Setenv(k, v)
			}
			b.mustApply(p)
			if asked := evil.Requests(); len(asked) > 0 {
				t.Errorf("the other index was asked for %q", asked)
			}
			if _, err := os.Stat(home + "/target"); !gone(err) {
				t.Errorf("pip.conf was obeyed: %v", err)
			}
		})
	}
}

// Hashes that an index gives are checked; one that it does not give is no error
// of an index alone (a lock demands them).
func TestThreat05WrongHashes(t *testing.T) {
	for _, tool := range []string{"uv"} { // pip: TestIndexFails
		b, x := newBench(t), torchIndex(t)
		x.Break("/simple/num-py/", testindex.WrongHash) // of a dependency, not of what was asked for
		_, err := b.apply(context.Background(), b.real(tool, x, "torch==2.14.1", "torchvision"))
		if err == nil {
			t.Fatalf("%s took a file with another hash\n%s", tool, b.out.String())
		}
		b.wantKind(err, fail.Integrity)
	}
}

// A package that is only a source distribution is not built: that would run its
// code.
func TestThreat06SourceDistributions(t *testing.T) {
	for _, tool := range tools {
		b, x := newBench(t), torchIndex(t)
		x.Add(testindex.Wheel{Name: "only-source", Version: "1.0", Sdist: true})
		_, err := b.apply(context.Background(), b.real(tool, x, "torch==2.14.1", "only-source"))
		b.wantKind(err, fail.Failed)
		for _, p := range x.Requests() {
			if strings.HasSuffix(p, ".tar.gz") {
				t.Errorf("%s fetched %s", tool, p)
			}
		}
	}
}

// A wheel that reaches out of the environment ends the apply; nothing outside of
// the new generation is written.
func TestThreat07MaliciousWheels(t *testing.T) {
	for _, tool := range []string{"uv"} { // a second of a processor for each with pip
		for name, w := range map[string]testindex.Wheel{
			"traversal":   {Name: "evil", Version: "1", Files: map[string]string{"evil/__init__.py": "", "../../../../../../pwn": "x"}},
			"absolute":    {Name: "evil", Version: "1", Files: map[string]string{"evil/__init__.py": "", "/tmp/envfix-test-pwn": "x"}},
			"entry point": {Name: "evil", Version: "1", Scripts: map[string]string{"../../../../../pwn": "evil:main"}},
		} {
			t.Run(tool+"/"+name, func(t *testing.T) {
				b, x := newBench(t), torchIndex(t)
				x.Add(w)
				_, err := b.apply(context.Background(), b.real(tool, x, "torch==2.14.1", "evil"))
				for _, path := range []string{b.dir + "/pwn", filepath.Dir(b.dir) + "/pwn", b.dir + "/.envfix/pwn", b.dir + "/.envfix/gens/pwn", "/tmp/envfix-test-pwn"} {
					if _, statErr := os.Stat(path); !gone(statErr) {
						t.Errorf("%s was written (apply: %v)", path, err)
						os.Remove(path)
					}
				}
			})
		}
	}
}

// The repository that is added and the key that signs it are NVIDIA's, by their
// own package; nothing else may be added.
func TestThreat14RepositoryInjection(t *testing.T) {
	for _, s := range []plan.Step{
		{Write: &plan.Write{Path: "/etc/apt/sources.list"}}, {Write: &plan.Write{Path: "/etc/apt/sources.list.d/evil.list"}},
		{Write: &plan.Write{Path: "/etc/apt/trusted.gpg.d/cuda.gpg"}}, {Write: &plan.Write{Path: "/etc/apt/apt.conf.d/99nvidia"}},
		{Run: &plan.Run{Argv: []string{"apt-key", "add", "x"}}}, {Run: &plan.Run{Argv: []string{"add-apt-repository", "-y", "ppa:evil/x1"}}},
		{Run: &plan.Run{Argv: []string{"apt-get", "install", "-y", "--allow-unauthenticated", "nvidia-open"}}},
		{Run: &plan.Run{Argv: []string{"apt-get", "update", "--allow-insecure-repositories"}}},
		{Run: &plan.Run{Argv: []string{"dnf", "install", "-y", "--nogpgcheck", "nvidia-open"}}},
		{Run: &plan.Run{Argv: []string{"zypper", "--no-gpg-checks", "--non-interactive", "install", "x1"}}},
	} {
		if CheckRoot(s) == nil {
			t.Errorf("%+v %+v may run as root", s.Write, s.Run)
		}
	}
}

// A hundred applies of one plan change nothing after the first.
func TestIdempotent(t *testing.T) {
	b := newBench(t)
	p := b.plan("2.14.1+cu126")
	b.mustApply(p)
	before := b.tree(".")
	journal, err := os.ReadFile(filepath.Join(b.dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if r := b.mustApply(p); !r.Nothing {
			t.Fatalf("it did something: %+v", r)
		}
	}
	if diff := cmp.Diff(before, b.tree(".")); diff != "" {
		t.Errorf("files (-first +after):\n%s", diff)
	}
	if now, err := os.ReadFile(filepath.Join(b.dir, journalName)); err != nil || !bytes.Equal(now, journal) {
		t.Errorf("the journal grew from %d to %d bytes, %v", len(journal), len(now), err)
	}
}

// A rollback is one rename; `go test -bench Rollback` says what it costs.
func BenchmarkRollback(b *testing.B) {
	dir := b.TempDir()
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Fatal(err)
	}
	for i, v := range []string{"a", "b"} {
		gen := filepath.Join(dir, gensDir, v)
		if out, err := exec.Command(python, "-I", "-m", "venv", "--without-pip", gen).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		e, err := Open(filepath.Join(dir, ".venv"))
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(e.mark(Generation{ID: v, Env: ".venv", Order: i + 1}), system.Link(e.root, genPath(v), nextLink, e.Name), e.Close()); err != nil {
			b.Fatal(err)
		}
	}
	ids := []string{"a", "b"}
	for i := 0; b.Loop(); i++ {
		e, err := Open(filepath.Join(dir, ".venv"))
		if err == nil {
			_, err = e.Rollback(ids[i%2])
		}
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
