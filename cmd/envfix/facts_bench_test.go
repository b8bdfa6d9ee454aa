package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkFacts times whole processes: envfix facts without NVIDIA's library
// and with the stand-in, beside `python3 -c pass`. The figure to watch is ms/op;
// MB is the greatest memory of any run.
func BenchmarkFacts(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "envfix")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOFLAGS=-ldflags=-extldflags=-Wl,-z,lazy", "CGO_CFLAGS=-Wno-deprecated-declarations")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	b.Run("without-library", func(b *testing.B) { timeProcess(b, nil, program, "facts", "--json") })
	b.Run("stand-in", func(b *testing.B) {
		libs, err := standIns()
		if err != nil {
			b.Skip(err)
		}
		b.Cleanup(func() { os.RemoveAll(libs) })
		timeProcess(b, []string{"ENVFIX_NVML=" + filepath.Join(libs, "libnvidia-ml.so.1"), "FAKE_NVML_DRIVER=580.95.05", "FAKE_NVML_GPUS=NVIDIA L4,8,9"}, program, "facts", "--json")
	})
	b.Run("child-alone", func(b *testing.B) { timeProcess(b, nil, program, "__nvml", filepath.Join(dir, "no-library.so")) })
	b.Run("python3", func(b *testing.B) {
		python, err := exec.LookPath("/usr/bin/python3")
		if err != nil {
			b.Skip(err)
		}
		timeProcess(b, nil, python, "-c", "pass")
	})
}

func timeProcess(b *testing.B, env []string, argv ...string) {
	var most int64
	for b.Loop() {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), env...)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		most = max(most, maxRSS(cmd.ProcessState))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
	b.ReportMetric(float64(most)/1e6, "MB")
	b.ReportMetric(0, "ns/op")
}
