//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"envfix/internal/observe"
	"envfix/internal/observe/verdict"
)

// limited makes a control group with a limit, of version 1 or 2, and returns the
// file that a process enters it by. Where this machine does not let us, it says so
// and the test is skipped.
func limited(t *testing.T, v1, v2 map[string]string, controller string) string {
	t.Helper()
	root, files := "/sys/fs/cgroup", v2
	if _, err := os.Stat(root + "/cgroup.controllers"); err != nil {
		root, files = filepath.Join(root, controller), v1
	}
	dir, err := os.MkdirTemp(root, "envfix-test-")
	if err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		for range 50 { // the last process leaves it a moment after its end
			if os.Remove(dir) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("%s was left behind", dir)
	})
	for name, value := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil {
			t.Skipf("no limit can be set here: %v", err)
		}
	}
	return filepath.Join(dir, "cgroup.procs")
}

// TestRunLimits runs jobs under real limits of the kernel, as a container would.
func TestRunLimits(t *testing.T) {
	enter := `echo 0 > "$0" && exec "$@"`
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		procs := limited(t, map[string]string{"memory.limit_in_bytes": "200M"}, map[string]string{"memory.max": "200M"}, "memory")
		// tail keeps the last line, and this one does not end
		r, o := reportOf(t, nil, "--", "sh", "-c", enter, procs, "sh", "-c", "head -c 900000000 /dev/zero | tail > /dev/null; sleep 0.3; exit 9")
		if o.Code != 9 || r.Verdict != verdict.HostOOM || r.Evidence["memory_limit_mib"] != 200.0 {
			t.Errorf("%+v\n%+v", r, o)
		}
	})
	t.Run("processor", func(t *testing.T) {
		t.Parallel()
		// A twentieth of a processor it gets, and wants more of, on a busy machine too.
		procs := limited(t, map[string]string{"cpu.cfs_quota_us": "5000"}, map[string]string{"cpu.max": "5000 100000"}, "cpu")
		file := filepath.Join(t.TempDir(), "job.efx")
		// It works until the kernel has held it back ten times.
		burn := `for n in 1 2 3 4; do timeout 30 sh -c 'until grep -Eq "nr_throttled [1-9][0-9]" "$0"; do n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; done' "$0" & done; wait`
		stat := filepath.Join(filepath.Dir(procs), "cpu.stat")
		outcomeOf(t, envfixCommand(t, nil, "run", "--save", file, "--", "sh", "-c", enter, procs, "sh", "-c", burn, stat), "")
		trace, err := observe.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if h := trace.Host; h.Quota != 0.05 || h.Throttled <= 0 {
			t.Errorf("%+v", h)
		}
	})
}

// TestE2ELimits trains with real PyTorch under a limit of half a processor, and
// with a /dev/shm of 64 MB.
func TestE2ELimits(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it trains with real PyTorch")
	}
	envfix := build(t)
	python := filepath.Join(realEnv(t), "bin", "python")
	t.Run("quota", func(t *testing.T) {
		procs := limited(t, map[string]string{"cpu.cfs_quota_us": "50000"}, map[string]string{"cpu.max": "50000 100000"}, "cpu")
		r, o := reportOf(t, nil, "--", "sh", "-c", `echo 0 > "$0" && exec "$@"`, procs, python, "testdata/jobs/planted.py", "crowd", "sick")
		if r.Verdict != verdict.WorkersOverQuota || r.Evidence["cpus"] != 0.5 || !strings.Contains(r.Text, "cgroup limit") {
			t.Errorf("%+v\n%+v", r, o)
		}
	})
	t.Run("shared memory", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("a mount of its own needs root")
		}
		file := filepath.Join(t.TempDir(), "r.json")
		cmd := exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=64m tmpfs /dev/shm || exit 99; exec "$0" "$@"`,
			envfix, "run", "--report", file, "--", python, "testdata/jobs/planted.py", "shm", "sick")
		cmd.Env = append(os.Environ(), "ENVFIX_NVML=off")
		if o := outcomeOf(t, cmd, ""); o.Code == 99 {
			t.Skip("no mount can be made here")
		}
		var r verdict.Report
		if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &r) != nil {
			t.Fatalf("%v %s", err, data)
		}
		if r.Verdict != verdict.ShmTooSmall || r.Evidence["shm_total_mib"] != 64.0 {
			t.Errorf("%+v", r)
		}
	})
}
