package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/apply"
	"envfix/internal/closure"
)

// TestE2EBench applies each folder of ENVFIX_BENCH for a described GPU, with the real
// index, and prints which share of what its sources import cannot be found then. A module
// is counted once a repository, by its top, or as far as packages share the top; those of
// tests, demos and try blocks count as the others. It is tried by importing it in the new
// environment; one that is there and raises is there. A repository that was not applied
// misses all.
func TestE2EBench(t *testing.T) {
	root := os.Getenv("ENVFIX_BENCH")
	if root == "" {
		t.Skip("make e2e-bench DIR=… runs this")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var all, missing, applied, ofApplied, lost int
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		modules := len(closure.Of(os.DirFS(dir), func(string) bool { return false }))
		if !e.IsDir() || modules == 0 {
			continue
		}
		all += modules
		got, why := benchApply(t, dir)
		if got == nil {
			missing += modules
			fmt.Printf("%-40s not applied: %s\n", e.Name(), why)
			continue
		}
		applied, ofApplied, lost, missing = applied+1, ofApplied+modules, lost+len(got.Missing), missing+len(got.Missing)
		fmt.Printf("%-40s %d of %d missing, %d raise:", e.Name(), len(got.Missing), modules, len(got.Failed))
		for _, m := range got.Missing {
			fmt.Printf(" %s", strings.TrimSuffix(m.Module+"("+m.Package+")", "()"))
			if m.Optional {
				fmt.Print("?")
			}
		}
		fmt.Println()
	}
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	fmt.Printf("imports missing after apply: %d of %d (%.1f %%) in %d repositories applied; %d of %d (%.1f %%) where those not applied miss all\n",
		lost, ofApplied, share(lost, ofApplied), applied, missing, all, share(missing, all))
	fmt.Println("measured by importing each top-level module that the sources name in the environment's own Python (? is in a try block)")
}

// benchApply applies one folder, with consent to what must be built, and removes the
// environment; nil and why where it cannot.
func benchApply(t *testing.T, dir string) (*apply.Imports, string) {
	t.Helper()
	place := filepath.Join(t.TempDir(), "env")
	defer os.RemoveAll(filepath.Dir(place))
	argv := []string{"apply", ".", "-y", "--json", "--env", place, "--gpu", "RTX 4090", "--driver", "580.95.05"}
	if os.Getenv("ENVFIX_CLOSURE") != "" {
		argv = append(argv, "--closure")
	}
	for range 2 {
		var out bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "../../bin/envfix", argv...)
		cmd.Path, _ = filepath.Abs("../../bin/envfix")
		cmd.Dir, cmd.Stdout = dir, &out
		_ = cmd.Run() // its JSON says how it ended
		var answer struct {
			Imports *apply.Imports
			Error   *struct {
				Code    int
				Text    string
				Details []string
				Hints   []string
			}
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			return nil, "no answer: " + err.Error()
		}
		if answer.Error == nil {
			return answer.Imports, "no environment of envfix's own was made"
		}
		builds := regexp.MustCompile(`--allow-build [^\s\x60]+`).FindAllString(strings.Join(answer.Error.Hints, " "), -1)
		if answer.Error.Code != 4 || len(builds) == 0 {
			return nil, strings.Join(append([]string{answer.Error.Text}, answer.Error.Details...), "; ")
		}
		argv = append(argv, strings.Fields(strings.Join(builds, " "))...)
	}
	return nil, "what was agreed to is not what is built"
}
