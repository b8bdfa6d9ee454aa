package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"os/exec"
)

// Each of the 17 threats of the threat model has a test that bears its number.
func TestEveryThreatHasATest(t *testing.T) {
	named := regexp.MustCompile(`(?m)^func Test(?:E2E)?Threat(\d\d)`)
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range named.FindAllSubmatch(b, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 17; n++ {
		if id := fmt.Sprintf("%02d", n); !found[id] {
			t.Errorf("threat %s has no test", id)
		}
	}
}

// Two builders make the same program, byte for byte, wherever they stand.
func TestE2EThreat17ReproducibleBuild(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it builds twice from nothing: `make e2e` runs it")
	}
	var builds [][]byte
	for _, name := range []string{"one", "another"} {
		out, cache := filepath.Join(t.TempDir(), name), t.TempDir()
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", out, ".")
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOCACHE="+cache, "GOFLAGS=")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		builds = append(builds, b)
	}
	if !slices.Equal(builds[0], builds[1]) {
		t.Error("two builds of one source differ")
	}
}
