//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestE2E installs the newest torch from the installer's default index with uv,
// gigabytes of it, in the project that other tests use. It is not parallel to them: an
// apply clears away what lies beside its environments.
func TestE2E(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it installs gigabytes of real torch: `make e2e` runs it")
	}
	dir := file(t, realProject, "")
	out, err := os.ReadFile(filepath.Join(dir, "did.json"))
	if err != nil {
		t.Fatal(err)
	}
	tellCost(t, out, dir)
	nothingLeft(t, applyIn(t, build(t), dir, []string{"XDG_STATE_HOME=" + file(t, state, "")}, onH100...))
}

// thisPython is the version of python3, which every machine of the tests has.
func thisPython(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// applyIn applies in a directory and returns what apply says.
func applyIn(t *testing.T, envfix, dir string, env []string, args ...string) []byte {
	t.Helper()
	c := exec.Command(envfix, append([]string{"apply", "--json", "--yes"}, args...)...)
	c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), env...), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", c.Args, err, out)
	}
	return out
}

// tellCost prints what an apply cost.
func tellCost(t *testing.T, out []byte, dir string) {
	t.Helper()
	var did struct {
		Own   float64 `json:"own_seconds"`
		Steps []struct {
			ID      string  `json:"id"`
			Seconds float64 `json:"seconds"`
		} `json:"steps"`
	}
	if err := json.Unmarshal(out, &did); err != nil || len(did.Steps) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, s := range did.Steps {
		fmt.Printf("    %-10s %6.1f s\n", s.ID, s.Seconds)
	}
	env, err := filepath.EvalSymlinks(filepath.Join(dir, ".venv"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("  on disk %.2f GB, of it all envfix's own %.2f s\n", float64(onDisk(t, env))/1e9, did.Own)
}

func nothingLeft(t *testing.T, out []byte) {
	t.Helper()
	if !strings.Contains(string(out), `"nothing": true`) {
		t.Errorf("a second apply did something:\n%s", out)
	}
}

// onDisk is what a directory takes, hard links counted once.
func onDisk(t *testing.T, dir string) int64 {
	t.Helper()
	seen, sum := map[uint64]bool{}, int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st := info.Sys().(*syscall.Stat_t); !seen[st.Ino] {
			seen[st.Ino] = true
			sum += st.Blocks * 512
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
