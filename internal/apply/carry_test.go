//go:build linux

package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/testindex"

	"github.com/google/go-cmp/cmp"
)

// carrying makes a plan that carries packages over with a real pip or uv before it
// installs torch, and checks them together.
func (b *bench) carrying(tool string, x *testindex.Index, stays []plan.KeptPackage, known ...plan.Complaint) *plan.Plan {
	b.Helper()
	p := b.real(tool, x, "torch==2.14.1")
	var lines strings.Builder
	for _, k := range stays {
		lines.WriteString(k.Name + "==" + k.Version + "\n")
	}
	install := *p.Steps[1].Run
	install.Argv = append(slices.Clone(install.Argv[:len(install.Argv)-1]), "--no-deps", "-r", "{gen}/envfix-carried.txt")
	check := plan.Run{Argv: []string{b.pip(), "--python", "{gen}", "check"}, Known: known}
	if tool == "uv" {
		check.Argv = []string{testindex.UV(b), "pip", "check", "--python", "{gen}/bin/python"}
	}
	p.Steps = slices.Insert(p.Steps, 1,
		plan.Step{ID: "carried", Title: "write them down", Write: &plan.Write{Path: "{gen}/envfix-carried.txt", Mode: 0o644, Content: lines.String()}},
		plan.Step{ID: "carry", Title: "install them again", Run: &install})
	p.Steps = slices.Insert(p.Steps, 4, plan.Step{ID: "check", Title: "check that they agree", Run: &check})
	for _, s := range p.Steps {
		if s.Verify != nil {
			s.Verify.Packages = stays
		}
	}
	p.Keep = &plan.Keep{From: ".venv", Stays: stays, Known: known}
	return reseal(b.T, p)
}

func digestOf(w testindex.Wheel) string {
	return machine.CodeDigest(machine.ReadRecord([]byte(w.Record())))
}

// What stays is there afterwards, in its version, with its files; what the old
// environment contradicted itself in, the new one may too.
func TestCarried(t *testing.T) {
	one, two := testindex.Wheel{Name: "One.Pure", Version: "1.0", Requires: []string{"two>=5"}}, testindex.Wheel{Name: "two", Version: "2.0", Requires: []string{"torch", "absent"}}
	stays := []plan.KeptPackage{
		{Name: "one-pure", Version: "1.0", Files: digestOf(one), Tags: "py3-none-any"}, {Name: "two", Version: "2.0"}}
	known := []plan.Complaint{{Package: "one-pure", Needs: "two"}, {Package: "two", Needs: "absent"}}
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			b, x := newBench(t), torchIndex(t)
			x.Add(one, testindex.Wheel{Name: "one-pure", Version: "9.0"}, two)
			b.mustApply(b.carrying(tool, x, stays, known...))
			if got := b.torch(); got != "2.14.1+cu126" {
				t.Errorf("torch: got %q\n%s", got, b.out.String())
			}
			if !strings.Contains(b.out.String(), "only where they did in the old environment") {
				t.Errorf("not said:\n%s", b.out.String())
			}
			_, err := os.Stat(filepath.Join(b.dir, ".venv", b.site, "one_pure-1.0.dist-info"))
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What cannot be carried over ends the plan with its name and the way out, and
// changes nothing.
func TestCarriedRefuses(t *testing.T) {
	one := testindex.Wheel{Name: "one", Version: "1.0"}
	evil := testindex.Wheel{Name: "one", Version: "1.0", Files: map[string]string{"one/__init__.py": "evil = True\n"}}
	for _, tt := range []struct {
		name  string
		index []testindex.Wheel
		stays []plan.KeptPackage
		kind  int
		want  string // in the text or a hint
		tools []string
	}{
		{"no such package", nil, []plan.KeptPackage{{Name: "one", Version: "1.0"}}, fail.Failed, "`--drop one` leaves it behind; `--fresh` carries nothing over", tools},
		{"no such version", []testindex.Wheel{one}, []plan.KeptPackage{{Name: "one", Version: "1.1"}}, fail.Failed, "`--drop one` leaves it behind", tools[1:]},
		{"only a source distribution", []testindex.Wheel{{Name: "one", Version: "1.0", Sdist: true}}, []plan.KeptPackage{{Name: "one", Version: "1.0"}}, fail.Failed, "`--drop one` leaves it behind", tools[1:]},
		{"a contradiction", []testindex.Wheel{one, {Name: "two", Version: "1.0", Requires: []string{"one>=2"}}}, []plan.KeptPackage{{Name: "one", Version: "1.0"}, {Name: "two", Version: "1.0"}}, fail.Failed, "`--drop two` leaves it behind", tools},
		{"another package of that name", []testindex.Wheel{evil}, []plan.KeptPackage{{Name: "one", Version: "1.0", Files: digestOf(one), Tags: "py3-none-any"}}, fail.Integrity, "the index has other files under the name and version of what was carried over: one", tools[1:]},
	} {
		for _, tool := range tt.tools {
			t.Run(tt.name+"/"+tool, func(t *testing.T) {
				b, x := newBench(t), torchIndex(t)
				x.Add(tt.index...)
				b.mustApply(b.plan("2.13.0+cu126"))
				_, err := b.open().Apply(context.Background(), b.carrying(tool, x, tt.stays), Options{Out: &b.out, Retries: -1})
				b.wantKind(err, tt.kind)
				var e *fail.Error
				if !errors.As(err, &e) || !strings.Contains(strings.Join(append(e.Hints, e.Text), "\n"), tt.want) {
					t.Errorf("no %q in %+v", tt.want, e)
				}
				if got := b.torch(); got != "2.13.0+cu126" {
					t.Errorf("torch: got %q", got)
				}
			})
		}
	}
}

// A package of another index that stands in for one that is carried over is found
// before any Python starts beside it: none of its code runs, a .pth file's neither.
func TestThreat04CarriedFromElsewhere(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	one := testindex.Wheel{Name: "one", Version: "1.0"}
	evil := testindex.Wheel{Name: "one", Version: "1.0", Files: map[string]string{"one/__init__.py": "", "one.pth": "import os; open('" + mark + "', 'w').close()\n"}}
	b, x := newBench(t), torchIndex(t)
	x.Add(evil)
	b.mustApply(b.plan("2.13.0+cu126"))
	p := b.carrying("uv", x, []plan.KeptPackage{{Name: "one", Version: "1.0", Files: digestOf(one), Tags: "py3-none-any"}})
	at := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "carry" })
	p.Steps = slices.Insert(p.Steps, at+1, plan.Step{ID: "next", Title: "a Python starts", Run: &plan.Run{Argv: []string{"{gen}/bin/python", "-I", "-c", "pass"}}})
	_, err := b.open().Apply(context.Background(), reseal(t, p), Options{Out: &b.out, Retries: -1})
	b.wantKind(err, fail.Integrity)
	if _, err := os.Stat(mark); !gone(err) {
		t.Error("its code ran")
	}
}

// A saved plan that carries packages over is stale where the environment it would
// replace holds others by now.
func TestStaleCarry(t *testing.T) {
	b := newBench(t)
	p := b.plan("2.14.1+cu126", func(p *plan.Plan) {
		p.Keep = &plan.Keep{From: ".venv"}
		p.Basis.Facts.Installed = []machine.Package{{Name: "one", Version: "1.0"}}
	})
	now := p.Basis.Facts
	now.Installed = []machine.Package{{Name: "one", Version: "1.0"}, {Name: "new", Version: "2.0"}}
	facts := func(context.Context) (machine.Machine, error) { return now, nil }
	_, err := b.open().Apply(context.Background(), p, Options{Out: &b.out, Facts: facts})
	b.wantKind(err, fail.Stale)
	var e *fail.Error
	if errors.As(err, &e); e == nil || !slices.Contains(e.Details, "package new none → 2.0") {
		t.Errorf("got %+v", e)
	}
	now = p.Basis.Facts
	if _, err := b.open().Apply(context.Background(), p, Options{Out: &b.out, Facts: facts}); err != nil {
		t.Error(err)
	}
}

func TestOnlyKnown(t *testing.T) {
	known := []plan.Complaint{{Package: "pandas", Needs: "numpy"}, {Package: "py-yaml", Needs: "wheel"}}
	for text, want := range map[string]bool{
		"$ pip check\npandas 3.1.1 has requirement numpy>=2.0.2, but you have numpy 1.26.4.\n":                                                                                  true,
		"py.yaml 3 requires wheel, which is not installed.\npandas 3.1.1 has requirement numpy>=2.0.2; python_version > \"3\", but you have numpy 1.26.4.\n":                    true,
		"Using Python 3.11.7 environment at: x\nChecked 14 packages in 1ms\nFound 1 incompatibility\nThe package `pandas` requires `numpy>=2.0.2`, but `1.26.4` is installed\n": true,
		"Found 2 incompatibilities\nThe package `py-yaml` requires `wheel`, but it's not installed\nThe package `pandas` requires `pytz`, but it's not installed\n":             false,
		"Using Python 3.11.7 environment at: x\nChecked 104 packages in 2ms\nFound 1 incompatibility\nThe package `decord` was built for a different platform\n":                true,
		"decord 0.6.0 is not supported on this platform\n":                                                                    true,
		"The package `decord` was built for a different platform\nThe package `one` requires `two`, but it's not installed\n": false,
		"error: no environment\n": false,
		"pandas 3.1.1 has requirement numpy>=2.0.2, but you have numpy 1.26.4.\nTraceback (most recent call last):\n": false,
		"": false,
	} {
		if got := onlyKnown(text, known); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestComplaint(t *testing.T) {
	got := complaint([]string{"Looking in indexes: x", "  Downloading one-1.0.whl", "Collecting one==1.0", "ERROR: No matching distribution found for two==1.0"})
	if diff := cmp.Diff("Looking in indexes: x\nERROR: No matching distribution found for two==1.0\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestNamedIn(t *testing.T) {
	got := map[string]bool{}
	for _, said := range []string{
		"ERROR: No matching distribution found for one==1.0",
		"Because one was not found in the package registry",
		"No matching distribution found for bone==1.0",
		"the one that is meant",
		"Failed to build `one @ file:///home/me/one`",
		"ERROR: Failed to build installable wheels for one-more (pyproject.toml)",
		"ERROR: Failed building editable for one\n",
		"One 1.0 has requirement two>=3, but you have two 2.0.",
	} {
		got[said] = namedIn(said, "one")
	}
	want := map[string]bool{
		"ERROR: No matching distribution found for one==1.0":                      true,
		"Because one was not found in the package registry":                       true,
		"No matching distribution found for bone==1.0":                            false,
		"the one that is meant":                                                   false,
		"Failed to build `one @ file:///home/me/one`":                             true,
		"ERROR: Failed to build installable wheels for one-more (pyproject.toml)": false,
		"ERROR: Failed building editable for one\n":                               true,
		"One 1.0 has requirement two>=3, but you have two 2.0.":                   true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
