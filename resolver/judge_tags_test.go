package resolver

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"envfix/internal/version"
	"envfix/matrix"
)

// tagged are releases of extensions, the torch that their wheels pin, and the Pythons for
// which uv finds a wheel of theirs on the default index for x86_64 and glibc 2.35: uv was
// asked for each, on 2026-11-23.
var tagged = []struct{ name, version, torch, pythons string }{
	{"xformers", "0.0.27", "2.3.1", "3.8 3.9 3.10 3.11 3.12"},
	{"xformers", "0.0.28.post3", "2.5.1", "3.9 3.10 3.11 3.12"},
	{"xformers", "0.0.29.post3", "2.6.0", "3.9 3.10 3.11 3.12"},
	{"xformers", "0.0.30", "2.7.0", "3.9 3.10 3.11 3.12"},
	{"xformers", "0.0.31", "2.7.1", "3.9 3.10 3.11 3.12 3.13 3.14"},
	{"xformers", "0.0.33.post2", "2.9.1", "3.9 3.10 3.11 3.12 3.13 3.14"},
	{"torchcodec", "0.1.1", "2.5.", "3.9 3.10 3.11 3.12"},
	{"torchcodec", "0.2.1", "2.6.", "3.9 3.10 3.11 3.12 3.13"},
	{"torchcodec", "0.5", "2.7.", "3.9 3.10 3.11 3.12 3.13"},
	{"torchcodec", "0.7.0", "2.8.", "3.9 3.10 3.11 3.12 3.13"},
	{"torchcodec", "0.9.1", "2.9.", "3.10 3.11 3.12 3.13 3.14"},
	{"torchcodec", "0.10.0", "2.10.", "3.10 3.11 3.12 3.13 3.14"},
}

// judgeTags: an extension is chosen where it has a wheel for the Python and its torch has
// one, and nowhere else.
func judgeTags(j *judge, r *rand.Rand) beside {
	e := tagged[r.Intn(len(tagged))]
	python := pickOf(r, "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
	own := slices.Contains(strings.Fields(e.pythons), python)
	torch := slices.ContainsFunc(j.builds, func(b map[string]string) bool {
		return strings.HasPrefix(b["torch"], e.torch) && b["os"] == "linux" && b["arch"] == "x86_64" && b["is_pypi_default"] == "yes" && offered(b) &&
			number(python, 1) >= number(b["python_min"], 1) && number(python, 1) <= number(b["python_max"], 1)
	})
	c := beside{kind: "tags", text: "Python " + python, wish: fmt.Sprintf("%s==%s", e.name, e.version),
		request: Request{Python: python, OnlyIndex: "default"}, machine: nvidiaHost("8.0", "580.95.05", "2.35")}
	c.wrong = func(res *Resolution) string {
		installs := res.Decision == Install && strings.HasPrefix(res.Choice.Torch, e.torch)
		if installs != (own && torch) {
			return fmt.Sprintf("a wheel of its own for this Python: %v, of its torch %s: %v", own, e.torch, torch)
		}
		return ""
	}
	return c
}

// TestJudgeBranches: a driver that is named by its branch alone means the newest release
// of it that the collected table has, on its system, and is judged as that.
func TestJudgeBranches(t *testing.T) {
	m, j := dataThen(t), readJudge(t)
	rnd, named := rand.New(rand.NewSource(3)), 0
	for range 2_000 {
		d := j.draw(rnd)
		row := j.branches[rnd.Intn(len(j.branches))]
		column, windows := "linux_latest", d.os == "windows" || d.wsl
		if windows {
			column = "windows_latest"
		}
		whole, err := m.WholeDriver(version.MustDotted(row["branch"]), windows)
		switch {
		case row[column] == "" && !windows:
			if err == nil {
				t.Fatalf("branch %s: %s, and the table has no release of it", row["branch"], whole)
			}
			continue
		case row[column] == "":
			continue // a number within a branch of Windows stays as it is
		case err != nil || whole.String() != row[column]:
			t.Fatalf("branch %s, windows %v: %s, %v; the table has %s", row["branch"], windows, whole, err, row[column])
		}
		d.driver, named = whole.String(), named+1
		if wrong := j.check(d, answerFor(t, m, d)); wrong != "" {
			t.Fatalf("%+v: %s", d, wrong)
		}
	}
	t.Logf("%d machines with a named branch judged", named)
}

func answerFor(t *testing.T, m *matrix.Matrix, d drawn) *Resolution {
	s, err := newProblem(m, d.machine(), d.request(t))
	if err != nil {
		t.Fatal(err)
	}
	return &s.chooser().decide().Resolution
}
