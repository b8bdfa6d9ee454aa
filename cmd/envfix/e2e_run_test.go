//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"envfix/internal/observe/verdict"
)

// TestE2ERunDeep: --deep lists the slowest operators of a job on the CPU, and does not
// call them kernels.
func TestE2ERunDeep(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it trains with real PyTorch")
	}
	python := filepath.Join(realEnv(t), "bin", "python")
	r, o := reportOf(t, []string{"OMP_NUM_THREADS=1"}, "--deep", "--", python, "testdata/jobs/planted.py", "plain", "well")
	i := slices.IndexFunc(r.Processes, func(p verdict.ProcessReport) bool { return len(p.Deep) > 0 })
	if i < 0 || r.Processes[i].Kernels || !strings.Contains(strings.Join(r.Processes[i].Deep, "\n"), " × aten::") || o.Code != 0 {
		t.Errorf("%+v\n%s", r.Processes, o.Stderr)
	}
}

// TestE2ERun runs small real trainings, each with a planted fault and without
// it, and wants the fault named and never named without it. No GPU is needed.
func TestE2ERun(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it trains with real PyTorch")
	}
	python := filepath.Join(realEnv(t), "bin", "python")
	traces, err := filepath.Abs("../../internal/observe/verdict/testdata")
	if err != nil {
		t.Fatal(err)
	}
	lib := traceLibrary(t)
	tests := []struct {
		fault, want string
		sick, well  string // recordings of GPUs beside the job; "" none
		small       bool
	}{
		{"storage", verdict.LoaderBound, "", "", false}, // TestE2EFrameworksSmall has a loader
		{"decoding", verdict.LoaderBound, "", "", false},
		{"queue", verdict.LoaderBound, "", "", false},
		{"skew", verdict.DDPSkew, "", "", true},
		{"reads", verdict.SyncBound, "", "", true},
		{"moves", verdict.CopiesEachStep, "", "", false},
		{"batch", verdict.TinyBatch, "", "", false},
		{"python", verdict.PythonBound, "", "", false},
		{"respawn", verdict.WorkerRespawn, "", "", false},
		{"frozen", verdict.StalledLoader, "", "", false},
		{"memory", verdict.OOM, "", "", true},
		{"storage", verdict.LoaderBound, "loader_bound", "healthy", false},
		{"python", verdict.PythonBound, "loader_bound", "healthy", true},
		{"reads", verdict.SyncBound, "loader_bound", "healthy", false},
		{"precision", verdict.FP32NoTensorCores, "healthy", "healthy", false},
		{"plain", verdict.ModelOnCPU, "never_used", "healthy", false},
		{"plain", verdict.OneGPUOfN, "one_of_four", "healthy", true},
		{"plain", verdict.OtherProcess, "other_process", "healthy", false},
	}
	for _, tt := range tests {
		for _, state := range []string{"sick", "well"} {
			trace := map[string]string{"sick": tt.sick, "well": tt.well}[state]
			t.Run(tt.fault+"_"+state+"_"+trace, func(t *testing.T) {
				sample(t, tt.small)
				env := []string{"OMP_NUM_THREADS=1"}
				if trace != "" {
					env = append(env, "ENVFIX_NVML="+lib, "FAKE_NVML_CC=9.0", "FAKE_NVML_TRACE="+filepath.Join(traces, trace+".csv"))
				}
				argv := []string{"--", python, "testdata/jobs/planted.py", tt.fault, state}
				if tt.fault == "skew" {
					argv = slices.Insert(argv, 2, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
				}
				r, o := reportOf(t, env, argv...)
				found := []string{r.Verdict}
				for _, x := range r.Others {
					found = append(found, x.Verdict)
				}
				if state == "sick" && found[0] != tt.want {
					t.Errorf("found %q, want %s\n%s\n%s", found, tt.want, r.Text, o.Stderr)
				}
				for _, v := range found {
					if state == "well" && v == tt.want {
						t.Errorf("found %q in a job without it\n%s", found, r.Text)
					}
				}
			})
		}
	}
}
