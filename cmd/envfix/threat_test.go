package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"os/exec"
)

// Each threat of docs/threats.md has the tests that its row names, and each test of a
// threat is named there.
func TestEveryThreatHasATest(t *testing.T) {
	tests := regexp.MustCompile(`(?m)^func (Test(?:E2E)?Threat(\d\d)\w*)\(`)
	found := map[string]string{} // number by name
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range tests.FindAllSubmatch(b, -1) {
			found[string(m[1])] = string(m[2])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../../docs/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\d+) \|.*\|([^|]*)\|$`)
	for _, m := range row.FindAllSubmatch(table, -1) {
		names := regexp.MustCompile("`(\\w+)`").FindAllSubmatch(m[2], -1)
		if len(names) == 0 {
			t.Errorf("threat %s has no test", m[1])
		}
		for _, n := range names {
			if got := strings.TrimPrefix(found[string(n[1])], "0"); got != string(m[1]) {
				t.Errorf("threat %s: there is no %s", m[1], n[1])
			}
			delete(found, string(n[1]))
		}
	}
	for name := range found {
		t.Errorf("%s stands in no row of docs/threats.md", name)
	}
}

// SECURITY.md lists the modules that are in the program, and no others.
func TestModulesAreListed(t *testing.T) {
	list := exec.Command("go", "list", "-tags=urfave_cli_no_docs", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), "CGO_ENABLED=1") // go-nvml is in the build with cgo, and in the child of the static one
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+[./]\S+) \|`).FindAllSubmatch(text, -1) {
		listed[string(m[1])] = true
	}
	in := map[string]bool{}
	for _, m := range strings.Fields(string(out)) {
		in[m] = true
		if !listed[m] {
			t.Errorf("%s is in the program and not in SECURITY.md", m)
		}
	}
	for m := range listed {
		if !in[m] {
			t.Errorf("%s is in SECURITY.md and not in the program", m)
		}
	}
}

// Two builders make the same program, byte for byte, wherever they stand.
func TestE2EThreat17ReproducibleBuild(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it builds from nothing: `make e2e` runs it")
	}
	t.Parallel() // beside downloads
	another := filepath.Join(t.TempDir(), "envfix")
	if err := buildStatic(another, "GOCACHE="+t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cmp", file(t, static, "envfix"), another).CombinedOutput(); err != nil {
		t.Errorf("two builds of one source differ: %s", out)
	}
}
