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
	"time"
)

// TestE2E installs real torch from the installer's default index, gigabytes of
// it: `make e2e`.
func TestE2E(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it installs gigabytes of real torch: `make e2e` runs it")
	}
	envfix := build(t)
	h100 := []string{"apply", "--json", "--yes", "--gpu", "H100 80GB HBM3", "--driver", "580.95.05", "--only-index", "default"}
	t.Run("newest with uv", func(t *testing.T) { e2e(t, envfix, h100...) })
	t.Run("2.6.0 with pip", func(t *testing.T) {
		e2e(t, envfix, append(h100, "--manager", "pip", "--python", thisPython(t), "torch==2.6.0")...)
	})
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

// e2e applies in an empty directory with empty caches, and says what it cost.
func e2e(t *testing.T, envfix string, args ...string) {
	t.Helper()
	dir, cache, state := t.TempDir(), t.TempDir(), t.TempDir()
	run := func(args ...string) (string, time.Duration) {
		c := exec.Command(envfix, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "XDG_STATE_HOME="+state)
		c.Stderr = os.Stderr
		start := time.Now()
		out, err := c.Output()
		if err != nil {
			t.Fatalf("envfix %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out), time.Since(start)
	}
	before := received(t)
	out, wall := run(args...)
	bytes := received(t) - before
	var did struct {
		Own   float64 `json:"own_seconds"`
		Steps []struct {
			ID      string  `json:"id"`
			Seconds float64 `json:"seconds"`
		} `json:"steps"`
	}
	if err := json.Unmarshal([]byte(out), &did); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	verify := 0.0
	for _, s := range did.Steps {
		fmt.Printf("    %-10s %6.1f s\n", s.ID, s.Seconds)
		if s.ID == "verify" {
			verify = s.Seconds
		}
	}
	share := did.Own / (wall.Seconds() - verify)
	fmt.Printf("  wall %.1f s, received %.2f GB, on disk %.2f GB, envfix's own share %.2f s = %.2f %% (verification apart: %.1f s)\n",
		wall.Seconds(), float64(bytes)/1e9, float64(onDisk(t, dir))/1e9, did.Own, 100*share, verify)
	if again, _ := run(args...); !strings.Contains(again, `"nothing": true`) {
		t.Errorf("a second apply did something:\n%s", again)
	}
}

// received is how many bytes this machine received, over all its interfaces but
// loopback.
func received(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for line := range strings.Lines(string(b)) {
		name, rest, found := strings.Cut(strings.TrimSpace(line), ":")
		var n int64
		if !found || name == "lo" {
			continue
		}
		if _, err := fmt.Sscan(rest, &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
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
