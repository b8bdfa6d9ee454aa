package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
		t.Skip("it builds from nothing: `make e2e` runs it")
	}
	another := filepath.Join(t.TempDir(), "envfix")
	if err := buildStatic(another, "GOCACHE="+t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cmp", file(t, static, "envfix"), another).CombinedOutput(); err != nil {
		t.Errorf("two builds of one source differ: %s", out)
	}
}
