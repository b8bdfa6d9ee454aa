package version

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// TestPlain: what is read without the library is what the library reads.
func TestPlain(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	number := func(groups int) string {
		var out []string
		for range groups {
			out = append(out, fmt.Sprint(r.Intn(4)))
		}
		return strings.Join(out, ".")
	}
	clause := func(groups int) string {
		operator := []string{"==", "!=", ">=", "<=", ">", "<", "~="}[r.Intn(7)]
		space := strings.Repeat(" ", r.Intn(2))
		if operator == "~=" {
			groups++
		}
		star := ""
		if strings.Contains("== !=", operator) && r.Intn(2) == 0 {
			star = ".*"
		}
		return operator + space + number(groups) + star
	}
	admitted := 0
	const questions = 20000
	for range questions {
		groups := 1 + r.Intn(3)
		version := number(groups + r.Intn(2)) // the library does not pad a shorter one to "==1.0.0.*"
		text := clause(groups)
		if r.Intn(2) == 0 {
			text += "," + clause(groups)
		}
		library, err := pep440.NewSpecifiers(text, pep440.WithPreRelease(true))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		spec := TrustSpecifier(text)
		if _, plain := spec.p.plain(); !plain {
			t.Fatalf("%s is not read as plain", text)
		}
		want := library.Check(pep440.MustParse(version))
		if got := spec.Admits(TrustPython(version)); got != want {
			t.Fatalf("%q admits %s: %v, the library says %v", text, version, got, want)
		}
		if want {
			admitted++
		}
	}
	if admitted < questions/20 || admitted > questions*19/20 {
		t.Errorf("%d of %d are admitted: the draw says little", admitted, questions)
	}
}

// TestNotPlain: what is more than releases goes to the library.
func TestNotPlain(t *testing.T) {
	for _, s := range []string{"", "*", "2.9", "=2.9", "===2.9", "~=2", ">=2.6.*", ">=2.6rc1", "<3||>4", "==1!2.0", "==2.9+cu126", ">=2.6,", "== 1.2.3.4.5.6", ">=", "<2.9.post1"} {
		if _, plain := (&specifier{text: s}).plain(); plain {
			t.Errorf("%q is read as releases", s)
		}
	}
	for _, s := range []string{"", ".", "2.", ".2", "2..9", "v2.9", "2.9rc1", "1!2", "2.9 ", "-1", "1.2.3.4.5.6", "1234567890"} {
		if _, plain := plainRelease(s); plain {
			t.Errorf("%q is read as a release", s)
		}
	}
}
