package propose

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/resolver"
)

// A plan waits a minute for uv; what is carried out waits for five.
func TestPatience(t *testing.T) {
	if plan, apply := (&Loop{}).time(mostTime), (&Loop{Patient: true}).time(mostTime); plan != time.Minute || apply != 5*time.Minute {
		t.Errorf("%v, %v", plan, apply)
	}
}

// A uv that stands still ends, one that computes is waited for, and an interrupt ends
// each within a second, also one that does not heed it.
func TestStandstill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what a process does")
	}
	l := asks(t, files{})
	l.still = time.Second
	uv := l.UV
	as := func(script string) {
		l.UV = filepath.Join(t.TempDir(), "uv")
		if err := os.WriteFile(l.UV, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	as("trap '' INT; sleep 60 & wait")
	begun := time.Now()
	if a := propose(t, l, request(t, "torch", "numpy")); !strings.HasPrefix(a.Unasked, "uv did not come to an end: ") || time.Since(begun) > 30*time.Second {
		t.Errorf("dead: %+v after %v", a, time.Since(begun))
	}
	l.still = time.Minute
	ctx, stop := context.WithCancel(t.Context())
	var stopped time.Time
	time.AfterFunc(300*time.Millisecond, func() { stopped = time.Now(); stop() })
	if _, err := l.Propose(ctx, request(t, "torch", "numpy")); !errors.Is(err, context.Canceled) || time.Since(stopped) > time.Second {
		t.Errorf("interrupted: %v after %v", err, time.Since(stopped))
	}
	l.still = time.Second
	as("i=0; while [ $i -lt 6000000 ]; do i=$((i+1)); done; exec '" + uv + "' \"$@\"")
	if a := propose(t, l, request(t, "torch", "numpy")); a.Unasked != "" || a.Versions["numpy"] == "" || l.left > mostTime-time.Second {
		t.Errorf("busy: %+v, %v left", a, l.left)
	}
}

// A framework stays as the project's file asks for it where its build for the GPU does not
// go with the rest; one that was asked for by hand does not.
func TestPlainly(t *testing.T) {
	f := files{}
	f.wheel("frame", "1.0", "py3-none-any")
	l := asks(t, f)
	all := l.Resolve
	l.Framework = func(name string) bool { return name == "frame" }
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		c := *all(r)
		if pep508.Asks(r.Requirements, "frame") {
			c.Ask = map[string]string{"frame": "frame>=2"}
		}
		return &c
	}
	r := request(t, "torch", "frame")
	if a := propose(t, l, r); a.Versions["frame"] != "1.0" || !strings.Contains(strings.Join(a.Said, "; "), "frame stays as it is asked for: frame>=2 does not go") {
		t.Errorf("%+v", a)
	}
	r.Requirements[1].From = ""
	if a := propose(t, l, r); a.Refused == "" {
		t.Errorf("by hand: %+v", a)
	}
}

// A framework that is added for what imports it is installed plainly: it decides of no
// build of torch.
func TestAddedPlainly(t *testing.T) {
	f := files{}
	f.wheel("frame", "1.0", "py3-none-any")
	l := asks(t, f)
	l.Plain = []string{"frame"}
	all := l.Resolve
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		if pep508.Asks(r.Requirements, "frame") {
			t.Error("the matrix is asked of it")
		}
		return all(r)
	}
	if a := propose(t, l, request(t, "torch", "frame")); a.Versions["frame"] != "1.0" || a.Python == "" {
		t.Errorf("%+v", a)
	}
}

// What another package brings and is linked against a CUDA decides of the build, as it does
// where it is asked for.
func TestBroughtLinked(t *testing.T) {
	f := files{}
	f.wheel("kernels", "1.0", "py3-none-any")
	f.wheel("trainer", "1.0", "py3-none-any", "kernels")
	l := asks(t, f)
	l.Linked = func(name string) bool { return name == "kernels" }
	all, asked := l.Resolve, false
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		asked = asked || pep508.Asks(r.Requirements, "kernels")
		return all(r)
	}
	if a := propose(t, l, request(t, "torch", "trainer")); !asked || a.Versions["kernels"] != "1.0" || len(a.Brought) != 1 {
		t.Errorf("%v, %+v", asked, a)
	}
}

// What others bring is held at the version that they ask for: a newer one that the matrix
// would choose does not go with them. Where no build of that one computes here, it stays as
// it is asked for, and that is said.
func TestBroughtVersion(t *testing.T) {
	f := files{}
	f.wheel("kernels", "1.0", "py3-none-any")
	f.wheel("kernels", "2.0", "py3-none-any")
	f.wheel("trainer", "1.0", "py3-none-any", "kernels<2")
	l := asks(t, f)
	l.Linked = func(name string) bool { return name == "kernels" }
	all, oldest := l.Resolve, "1"
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		c := *all(r)
		if pep508.Asks(r.Requirements, "kernels") {
			c.Packages = maps.Clone(c.Packages)
			for _, v := range []string{"2.0", "1.0"} {
				at, _ := version.ParsePython(v)
				if specOf(r, "kernels").Admits(at) && v >= oldest {
					c.Packages["kernels"] = v
					return &c
				}
			}
			return nil
		}
		return &c
	}
	r := request(t, "torch", "trainer")
	if a := propose(t, l, r); a.Versions["kernels"] != "1.0" || !slices.Equal(a.Brought, []string{"kernels==1.0"}) || len(a.Plain) > 0 {
		t.Errorf("%+v", a)
	}
	oldest = "2"
	if a := propose(t, l, r); a.Versions["kernels"] != "1.0" || a.Refused != "" || !strings.Contains(strings.Join(a.Said, "; "), "kernels stays as the other packages ask for it") {
		t.Errorf("%+v", a)
	}
}

// What a framework that was asked for by its name requires, and of which no release runs here,
// is a reason against it: its code is in what it requires. A project goes on.
func TestIdle(t *testing.T) {
	f := files{}
	f.wheel("kernels", "1.0", "py3-none-any")
	f.wheel("trainer", "1.0", "py3-none-any", "kernels==1.0")
	l := asks(t, f)
	l.Framework = func(name string) bool { return name == "kernels" || name == "trainer" }
	all := l.Resolve
	l.Resolve = func(r resolver.Request) *resolver.Choice {
		if pep508.Asks(r.Requirements, "kernels") {
			return nil
		}
		return all(r)
	}
	r := request(t, "torch", "trainer")
	if a := propose(t, l, r); a.Refused != "" || len(a.Brought) > 0 {
		t.Errorf("of a project: %+v", a)
	}
	r.Requirements[1].From = ""
	if a := propose(t, l, r); !slices.Equal(a.Brought, []string{"kernels"}) {
		t.Errorf("by its name: %+v", a)
	}
}

// A placeholder's wheel is fetched when it is built: for the Pythons that its project names.
func TestStub(t *testing.T) {
	f := files{}
	f.sdist("stubbed", "1.0", filepath.Join(t.TempDir(), "ran"), map[string]string{
		"pyproject.toml": "[build-system]\nrequires = [\"wheel-stub\"]\nbuild-backend = \"wheel_stub.buildapi\"\n",
		"PKG-INFO":       "Metadata-Version: 2.4\nName: stubbed\nVersion: 1.0\nClassifier: Programming Language :: Python :: 3\nClassifier: Programming Language :: Python :: 3.12\n",
	})
	l := asks(t, f)
	r := request(t, "torch", "stubbed")
	r.Python = "3.11"
	if a := propose(t, l, r); !strings.Contains(a.Refused, "names no Python 3.11 but 3.12") {
		t.Errorf("%+v", a)
	}
	r.Python = "3.12"
	if a := propose(t, l, r); a.Refused != "" || !strings.Contains(strings.Join(a.Said, "; "), "fetches a wheel of its project's own index") {
		t.Errorf("%+v", a)
	}
}
