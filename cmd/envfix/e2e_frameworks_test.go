//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/observe/verdict"

	"github.com/google/go-cmp/cmp"
)

// A planted is a training by a real framework with one fault, and what names it.
type planted struct {
	job, want string
	word      string // of the report's text; "" the line that the job marks with its own name
}

// plantedJobs are those of testdata/jobs/frameworks.py.
var plantedJobs = []planted{
	{"torchvision-decode", verdict.LoaderBound, ""},
	{"torchvision-folder", verdict.LoaderBound, "PIL.Image"},
	{"torchvision-augment", verdict.LoaderBound, ""},
	{"numpy-archive", verdict.LoaderBound, ""},
	{"datasets-transform", verdict.LoaderBound, ""},
	{"transformers-server", verdict.LoaderBound, ""},
	{"transformers-collate", verdict.LoaderBound, ""},
	{"transformers-batch", verdict.TinyBatch, "TrainingArguments(per_device_train_batch_size"},
	{"lightning-reads", verdict.SyncBound, ""},
	{"lightning-python", verdict.PythonBound, ""},
	{"lightning-respawn", verdict.WorkerRespawn, ""},
	{"lightning-storage", verdict.LoaderBound, ""},
	{"accelerate-moves", verdict.CopiesEachStep, ""},
	{"accelerate-json", verdict.LoaderBound, ""},
	{"accelerate-frozen", verdict.StalledLoader, "one wait for data"},
	{"torch-rebuilt", verdict.WorkerRespawn, ""},
	{"torch-queue", verdict.LoaderBound, ""},
	{"torch-address", verdict.HostOOM, "ulimit -v"},
	{"timm-augment", verdict.LoaderBound, ""},
	{"ray-server", verdict.LoaderBound, ""},
	{"ultralytics-decode", verdict.LoaderBound, ""},
	{"torchrun-skew", verdict.DDPSkew, "rank 1"},
	{"jupyter-server", verdict.LoaderBound, "Cell In[2]:4"},
	{"pytest-reads", verdict.SyncBound, ""},
	{"make-server", verdict.LoaderBound, ""},
	{"nox-moves", verdict.CopiesEachStep, ""},
}

// TestE2EFrameworks runs trainings by real frameworks, each with a planted fault
// and without it: the fault is named first, with its line, and never without it;
// output and exit code are as without envfix.
func TestE2EFrameworks(t *testing.T) {
	python := os.Getenv("ENVFIX_FRAMEWORKS_PYTHON")
	if python == "" {
		t.Skip("needs ENVFIX_FRAMEWORKS_PYTHON, a Python with the frameworks (make e2e-run)")
	}
	for _, j := range plantedJobs {
		t.Run(j.job, func(t *testing.T) { plantedJob(t, python, j) })
	}
}

// TestE2EFrameworksEnd ends trainings in the middle, by an exit code, an exception or
// a signal: what the caller sees is as without envfix.
func TestE2EFrameworksEnd(t *testing.T) {
	python := os.Getenv("ENVFIX_FRAMEWORKS_PYTHON")
	if python == "" {
		t.Skip("needs ENVFIX_FRAMEWORKS_PYTHON, a Python with the frameworks (make e2e-run)")
	}
	interrupts := make(chan os.Signal, 1) // who starts this in the background may have it ignore them, and its children then do
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	for job, code := range map[string]int{
		"torch-term": -1, "torch-interrupt": -1, "torchrun-raise": 1, "pytest-raise": 1, "make-exit": 2, "nox-exit": 1, "transformers-exit": 3,
		"lightning-interrupt": 1, "accelerate-raise": 1, "ray-raise": 1, "jupyter-raise": 1,
	} {
		t.Run(job, func(t *testing.T) {
			argv := []string{python, "testdata/jobs/frameworks.py", job, "well"}
			plain := exec.Command(argv[0], argv[1:]...)
			plain.Env = append(os.Environ(), quietly...)
			want := outcomeOf(t, plain, "")
			o := outcomeOf(t, envfixCommand(t, quietly, append([]string{"run", "--"}, argv...)...), "")
			want.Stderr, o.Stderr = "", "" // times and process numbers stand there
			if diff := cmp.Diff(want, o); diff != "" || want.Code != code {
				t.Errorf("code %d, want %d; without envfix, and with: %s", want.Code, code, diff)
			}
		})
	}
}

// TestE2EFrameworksAccumulate adds up the gradients of four batches: the steps are the
// optimizer's, and what each batch does once is no fault.
func TestE2EFrameworksAccumulate(t *testing.T) {
	python := os.Getenv("ENVFIX_FRAMEWORKS_PYTHON")
	if python == "" {
		t.Skip("needs ENVFIX_FRAMEWORKS_PYTHON, a Python with the frameworks (make e2e-run)")
	}
	for job, steps := range map[string]uint64{"transformers-accumulate": 25, "lightning-accumulate": 25, "ultralytics-accumulate": 15} {
		t.Run(job, func(t *testing.T) {
			argv := []string{python, "testdata/jobs/frameworks.py", job, "well"}
			plain := exec.Command(argv[0], argv[1:]...)
			plain.Env = append(os.Environ(), quietly...)
			want := outcomeOf(t, plain, "")
			r, o := reportOf(t, quietly, append([]string{"--"}, argv...)...)
			want.Stderr, o.Stderr = "", ""
			if diff := cmp.Diff(want, o); diff != "" || want.Code != 0 {
				t.Errorf("without envfix, and with: %s", diff)
			}
			i := slices.IndexFunc(r.Processes, func(p verdict.ProcessReport) bool { return p.Steps > 0 })
			if i < 0 || r.Processes[i].Steps != steps || r.Processes[i].Passes < 3.5 || r.Processes[i].Passes > 4.5 {
				t.Errorf("want %d steps of 4 batches: %+v", steps, r.Processes)
			}
			for _, x := range append([]verdict.Finding{r.Finding}, r.Others...) {
				if slices.Contains([]string{verdict.SyncBound, verdict.CopiesEachStep, verdict.TinyBatch}, x.Verdict) {
					t.Errorf("found in a job without it: %+v", x)
				}
			}
		})
	}
}

// TestE2EFrameworksSmall runs two of them with what small installs bring.
func TestE2EFrameworksSmall(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it trains with real PyTorch")
	}
	python := frameworksBeside(t, realEnv(t), "accelerate")
	for _, j := range plantedJobs {
		if j.job == "accelerate-json" || j.job == "torch-rebuilt" {
			t.Run(j.job, func(t *testing.T) { plantedJob(t, python, j) })
		}
	}
}

// frameworksBeside is the Python of a new environment that has packages, and those
// of another environment.
func frameworksBeside(t *testing.T, env string, packages ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "env")
	site, err := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages"))
	if err != nil || len(site) == 0 {
		t.Fatalf("no site-packages in %s", env)
	}
	python := filepath.Join(dir, "bin", "python")
	if err := execute(nil, filepath.Join(env, "bin", "python"), "-m", "venv", dir); err != nil {
		t.Fatal(err)
	}
	there, _ := filepath.Glob(filepath.Join(dir, "lib", "python3*", "site-packages"))
	if err := os.WriteFile(filepath.Join(there[0], "beside.pth"), []byte(site[0]+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := execute(nil, python, append([]string{"-m", "pip", "install", "-q"}, packages...)...); err != nil {
		t.Fatal(err)
	}
	return python
}

// quietly are the variables of every job: one thread, nothing fetched.
var quietly = []string{"OMP_NUM_THREADS=1", "HF_HUB_OFFLINE=1", "TOKENIZERS_PARALLELISM=false"}

// plantedJob runs one job, sick and well.
func plantedJob(t *testing.T, python string, j planted) {
	env := quietly
	word := j.word
	if word == "" {
		word = "frameworks.py:" + markedLine(t, j.job)
	}
	argv := []string{python, "testdata/jobs/frameworks.py", j.job, "well"}
	plain := exec.Command(argv[0], argv[1:]...)
	plain.Env = append(os.Environ(), env...)
	want := outcomeOf(t, plain, "")
	if want.Code != 0 {
		t.Errorf("the job itself failed: %+v", want)
	}
	want.Stderr = "" // frameworks write times there
	for _, state := range []string{"sick", "well"} {
		argv[3] = state
		begun := time.Now()
		r, o := reportOf(t, env, append([]string{"--"}, argv...)...)
		stderr := o.Stderr
		o.Stderr = ""
		found := []string{r.Verdict}
		for _, x := range r.Others {
			found = append(found, x.Verdict)
		}
		t.Logf("%s: %q in %.0f s", state, found, time.Since(begun).Seconds())
		if diff := cmp.Diff(want, o); diff != "" && (state == "well" || j.want != verdict.HostOOM) { // that one ends
			t.Errorf("without envfix, and with: %s", diff)
		}
		if state == "well" {
			if slices.Contains(found, j.want) {
				t.Errorf("found %q in a job without it\n%s", found, r.Text)
			}
			continue
		}
		if text := r.Text + "\n" + strings.Join(r.Fix, "\n"); found[0] != j.want || !strings.Contains(text, word) {
			t.Errorf("found %q, want %s, with %q in\n%s\n%s", found, j.want, word, text, stderr)
		}
	}
}

// markedLine is the number of the line that ends with a job's name.
func markedLine(t *testing.T, job string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/jobs/frameworks.py")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if n++; strings.HasSuffix(strings.TrimSpace(line), "# "+job) {
			return fmt.Sprint(n)
		}
	}
	t.Fatalf("no line of %s is marked", job)
	return ""
}
