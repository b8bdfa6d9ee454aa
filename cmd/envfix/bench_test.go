package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkProcesses times whole processes, as people wait for them, beside
// `python3 -c pass` and `uv --version` in the same run, and reports how many times
// as long as Python each takes. The figures to watch are ms/op and ×python; MB is
// at least what this test program itself takes (25), because the kernel counts the
// moment between fork and exec.
func BenchmarkProcesses(b *testing.B) {
	program := filepath.Join(b.TempDir(), "envfix")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOFLAGS=-ldflags=-extldflags=-Wl,-z,lazy", "CGO_CFLAGS=-Wno-deprecated-declarations")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	v100, err := filepath.Abs("testdata/machines/v100-server-580.json")
	if err != nil {
		b.Fatal(err)
	}
	off := []string{"ENVFIX_NVML=off"}
	python, err := exec.LookPath("/usr/bin/python3") // not a shim that is a shell script
	if err != nil {
		b.Skip("there is no python3 to compare with")
	}
	base := median(b, nil, python, "-c", "pass")
	for _, p := range []struct {
		name string
		argv []string
	}{
		{"plan-here", []string{program, "plan"}},
		{"plan-described", []string{program, "plan", "--facts", v100}},
		{"plan-json", []string{program, "plan", "--facts", v100, "--json"}},
		{"alone", []string{program}},
		{"version", []string{program, "--version"}},
		{"help", []string{program, "plan", "--help"}},
		{"uv-version", []string{"uv", "--version"}},
		{"python3-pass", []string{python, "-c", "pass"}},
	} {
		b.Run(p.name, func(b *testing.B) {
			if _, err := exec.LookPath(p.argv[0]); err != nil {
				b.Skipf("%s is not here", p.argv[0])
			}
			timeProcess(b, off, p.argv...)
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/base.Seconds(), "×python")
		})
	}
}

// median is the middle of eleven runs.
func median(b *testing.B, env []string, argv ...string) time.Duration {
	b.Helper()
	var all []time.Duration
	for range 11 {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), env...)
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(fmt.Errorf("%s: %w", strings.Join(argv, " "), err))
		}
		i := 0
		took := time.Since(start)
		for i < len(all) && all[i] < took {
			i++
		}
		all = append(all[:i], append([]time.Duration{took}, all[i:]...)...)
	}
	return all[len(all)/2]
}
