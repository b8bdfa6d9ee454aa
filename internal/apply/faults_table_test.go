package apply

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Every test that FAULTS.md names is there.
func TestFamiliesHaveTheirTests(t *testing.T) {
	text, err := os.ReadFile("FAULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, families, found := strings.Cut(string(text), "## The families of faults and their tests")
	names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(families, -1)
	if !found || len(names) < 60 {
		t.Fatalf("FAULTS.md names %d tests", len(names))
	}
	out, err := exec.Command("grep", "-rhoE", "^func (Test|Fuzz)[A-Za-z0-9]+", "--include=*_test.go", "../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		there[strings.TrimSpace(strings.TrimPrefix(line, "func "))] = true
	}
	for _, n := range names {
		if !there[n[1]] {
			t.Errorf("FAULTS.md names %s, which no package has", n[1])
		}
	}
	for n := 1; n <= 24; n++ {
		if !strings.Contains(families, fmt.Sprintf("\n| %d ", n)) {
			t.Errorf("family %d is missing", n)
		}
	}
}
