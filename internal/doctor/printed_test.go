package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
)

func explained(t *testing.T, text string) Explanation {
	t.Helper()
	a, err := Explain(knowledge(t), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A line that no message of the data knows is told by the kind of message that it is.
func TestKindsOfMessages(t *testing.T) {
	for text, want := range map[string]string{
		"zeContextCreate failed: ZE_RESULT_ERROR_DEVICE_LOST":                                  "level-zero-lost none",
		"CUDA_ERROR_CONTAINED":                                                                 "hardware-fault gpu_hw_fault",
		"it failed with CUSOLVER_STATUS_EXECUTION_FAILED":                                      "execution-failed none",
		"RuntimeError: CUDA failed with error out of memory":                                   "gpu-memory oom",
		"foo requires scipy>=1.10, which is not here":                                          "package-old none",
		"Why isn't my GPU being used by PyTorch?":                                              "question-gpu-unused none",
		"The renderer is using my CPU instead of RTX 5090 on Windows 11.":                      "question-gpu-unused none",
		"my GPU is hardly utilized and inference was very slow":                                "question-gpu-idle none",
		"it works with the CPU (slow) although I have a GPU and tensorflow[and-cuda] is here":  "question-other-program none",
		"GPU utilization is only 30% while training":                                           "question-gpu-idle none",
		"Ollama doesnt seem to use the GPU. It falls back to the CPU":                          "question-other-program none",
		"ValueError: Unknown mixed_precision mode: x. Choose between y":                        "",
		"ImportError: nvcc compiler not found at /opt/bin":                                     "toolkit-missing toolkit_mismatch_build",
		"Ensure the NVIDIA display driver is installed.":                                       "driver-not-there driver_missing",
		"AssertionError: a cache is supported only on CUDA compute capability >= 70 (Volta).":  "gpu-generation gpu_too_old_for_feature",
		"ImportError: CUDA is not available in PyTorch":                                        "no-gpu-for-it code_device_placement",
		"RuntimeError: a part requires lib-0.6.0 or later":                                     "package-old none",
		"INFO: the task ended with: No such file or directory":                                 "",
		"ValueError: a kernel of it requires CUDA tensors":                                     "two-devices code_device_placement",
		"ImportError: this attention requires a nvidia-cudnn-frontend installation that has x": "package-missing none",
		"pip: ERROR: versions that require a different python version":                         "python-wanted none",
	} {
		a := explained(t, text)
		got := ""
		if len(a.Matches) > 0 {
			got = a.Matches[0].Message + " " + a.Matches[0].Cause
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What a sentence says by its own words is told with them: what is not there and for whom,
// what is wanted and what was given, the setting, and the way that it names itself.
func TestSlotsOfSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"ValueError: use_cache=True is not supported with gradient_checkpointing mode.":       {`"use_cache=True" with "gradient_checkpointing mode"`, "where use_cache gets its value"},
		"ImportError: Please install torch>=2.4 via pip":                                      {"needs torch 2.4", `envfix plan "torch>=2.4"`},
		"ValueError: Expected rank 1 for scratch, got 4":                                      {"asks for this there: rank 1 for scratch; and it was given 4"},
		"ValueError: Sliding windows are not supported here. Set FOO_BACKEND=xformers":        {"a way of its own: FOO_BACKEND=xformers", "env | grep FOO_BACKEND"},
		"ValueError: Frobbing is only supported for wound frobnicators.":                      {`has "Frobbing" only for wound frobnicators`},
		"ValueError: You requested 4 GPUs but this machine only has 1 devices.":               {"more GPUs than this process sees", "nvidia-smi -L"},
		"ImportError: You need to install sacremoses to use XLMTokenizer.":                    {"needs the package sacremoses"},
		"ModuleNotFoundError: No module named 'cv2'":                                          {"module cv2, which is of the package opencv-python", "pip install opencv-python"},
		"ModuleNotFoundError: No module named 'nobodyread.sub'":                               {"module nobodyread.sub, which is not", "pip install nobodyread`, where"},
		"FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'":                    {"starts the program ffmpeg", "command -v ffmpeg"},
		"ModuleNotFoundError: No module named 'distutils'":                                    {"which Python had once", "no package of that name"},
		"ModuleNotFoundError: No module named '_ctypes'":                                      {"a part of Python itself", "no package of an index"},
		"RuntimeError: found NaN in the loss of step 3":                                       {"NaN or infinite"},
		"ValueError: the launch requires `--data-parallel-size-local 1`; got 8.":              {"where --data-parallel-size-local is given"},
		"RuntimeError: foo does not have a kernel registered for cuda:0. It is not found":     {"the program"},
		"NotImplementedError: this is not supported yet.":                                     {"does not have that"},
		"AssertionError: Frob can only be used with a Wound Frobnicator.":                     {`takes "Frob" only with a Wound Frobnicator`},
		"ImportError: attempted relative import with no known parent package":                 {"python -m package.part"},
		"RuntimeError: grouped gemm is not supported on SM 7.5":                               {"certain generations of GPUs"},
		"RuntimeError: cudaErrorPeerAccessAlreadyEnabled":                                     {"switched on or off twice"},
		"TypeError: Wound state must be an instance of Frob. Actual: 3":                       {"goes in as Wound state", "asked for is an instance of Frob"},
		"ValueError: `x` has to be of type `str` or `list` but is <class 'int'>":              {"asks for this there: of type `str` or `list`"},
		"NotImplementedError: requires Triton":                                                {"needs the package Triton"},
		"ValueError: Unsupported frob_bits: 3, frob_bits are 4 and 8":                         {`has no "frob_bits: 3"`},
		"OSError: cannot open /data/models/config.json: it does not exist":                    {"ls -ld /data/models/config.json"},
		"ValueError: In order to use frob_size=4 here, you need to set frob_backend='wound'.": {"a way of its own: frob_backend='wound'"},
		"ValueError: wind_all frob_sizes must be whole":                                       {"where frob_sizes gets"},
		"ValueError: The thing {x} must be a $(reboot) but got <b>; it should not be said":    {"was given a value that it does not take"},
	} {
		a := explained(t, text)
		all := append(a.Matches, a.Known...)
		for _, w := range want {
			if len(all) == 0 || !strings.Contains(all[0].Text+"\n"+strings.Join(all[0].Fix, "\n"), w) {
				t.Errorf("%q: no %q in %+v", text, w, all)
			}
		}
	}
}

// Programs share sentences: the last file of a traceback says whose it is.
func TestTracebackSaysWhose(t *testing.T) {
	a := explained(t, `  File "/opt/env/lib/python3.11/site-packages/kornia/feature/scale.py", line 826, in forward
    raise ValueError("score_threshold must be non-negative. Got -1")
ValueError: score_threshold must be non-negative. Got -1`)
	if len(a.Known) != 1 || a.Known[0].Program != "kornia" || a.Known[0].Source != "kornia: feature/scale.py" {
		t.Errorf("%+v", a.Known)
	}
}

// Whose a line is it says itself, before a warning and as logging names its speaker; a
// sentence that several programs print, or a short one, is claimed for none.
func TestLineSaysWhose(t *testing.T) {
	for text, want := range map[string]string{
		"/v/lib/python3.12/site-packages/kornia/a/b.py:7: UserWarning: frob() is deprecated and will be removed in a future release.": "kornia kornia: a/b.py",
		"ERROR:kornia.a.b:could not wind the frobnicator": "kornia kornia: a/b",
		"ValueError: Invalid weight_decay value: -1":      "a program torch 2.15.0: optim/functional_adam.py, or by others in the same words",
		"ValueError: Invalid device name: foo":            "a program tensorflow 2.21.0: lib/debug_data.py, or by others in the same words",
	} {
		a := explained(t, text)
		if len(a.Known) != 1 || a.Known[0].Program+" "+a.Known[0].Source != want {
			t.Errorf("%q: %+v", text, a.Known)
		}
	}
	a := explained(t, "ERROR:kornia.a.b:could not wind the frobnicator\nValueError: frob must be wound")
	if len(a.Known) != 2 || a.Known[1].Program != "a program" {
		t.Errorf("what one line says of itself was taken for the next: %+v", a.Known)
	}
}

// A kind of message denies and advises no more than its line bears: what failed to be read
// asks for no other GPU, what is for another device says nothing of this one, and a program
// that speaks of the installation is not told that the installation is well.
func TestKindsSayNoMoreThanTheLine(t *testing.T) {
	for text, never := range map[string]string{
		"RuntimeError: failed to get CUDA compute capability minor for device 4: result=44":           "another generation",
		"ValueError: SparseCore kernels are only supported on TPU, but the current device is cuda:0.": "torch.cuda.is_available",
		"NCCL WARN ncclSocketTryRecv: pass NULL socket":                                               "NCCL_SOCKET_IFNAME",
		"AssertionError: XPU_Accelerator requires PyTorch with XPU support (torch.xpu).":              "not of the GPU or the installation",
		"ValueError: bitsandbytes 4bit quantization is not available.":                                "nor the installation is at fault",
		"INFO: CUDA is not available; defaulting max num warps to 32":                                 "CPU build",
		"WARNING: ROCm clang-cl was not found at /x; falling back to clang-cl on PATH":                "kernel driver",
		"KeyError: Unexpected input keys in examples: foo.":                                           "checkpoint",
		"TypeError: Target module foo is not supported. Only `torch.nn.Linear` is.":                   "where torch.nn.Linear gets its value",
		"ValueError: Invalid dataset split 'x'. Use 'train', 'val', or 'test'.":                       "where train gets its value",
		"ValueError: Expected `a` and `b` to have the same width. Got a: 3 and b: 4":                  "to there",
		"ValueError: Unsupported array dtype: int13":                                                  "convert: `.to(",
		"ValueError: Invalid device name: foo":                                                        "tensorflow was",
		"ValueError: Invalid policy: fp7. Must be a `dict` with a key":                                "goes in as fp7",
		"ValueError: top_p_bound must be less than or equal to 1.0":                                   "vllm checks",
		"E1127 10:11:12.12 1 a.go:3] bad answer: invalid request for 'x': unknown device: GPU-1":      "for this system",
		"ValueError: Unsupported data type: <class 'str'>":                                            ".dtype",
		"WARNING:pip._internal.a:this experimental feature comes by --use-feature=x and is not ready": "does not take",
		"slurmd: error: unable to clean up socket /var/spool/slurmd/n1: Permission denied":            "; an environment of one's own",
		"FrobError: Unrecognized op can't be recomputed on the host: Unknown Error":                   "dmesg",
		"error: The wheel is invalid: Unknown Error":                                                  "dmesg",
		"ValueError: Not a winding name: frob_fp4_h128":                                               "where frob_fp4_h128",
		"ValueError: wind__all accepts lines, the first of which is a frob":                           "where wind__all",
		"ValueError: frobs and winders have to match (got 12 and 10)!":                                "asked for is (got",
		"RuntimeError: the loop requires Linux":                                                       "package",
	} {
		a := explained(t, text)
		for _, m := range append(a.Matches, a.Known...) {
			if all := m.Text + strings.Join(m.Fix, "\n"); strings.Contains(all, never) {
				t.Errorf("%q: %s", text, all)
			}
		}
	}
}

// A program that is not there is told alike, whichever shell says so.
func TestShellsFindNone(t *testing.T) {
	for _, say := range []string{"bash: %s: command not found", "train.sh: line 3: %s: command not found", "zsh: command not found: %s", "sh: 1: %s: not found",
		"/bin/sh: 12: %s: not found", "fish: Unknown command: %s", "'%s' is not recognized as an internal or external command,", "/usr/bin/env: ‘%s’: No such file or directory",
		"%[1]s : The term '%[1]s' is not recognized as the name of a cmdlet, function,", "Command '%s' not found, did you mean:", "/usr/bin/which: no %s in (/usr/bin:/bin)"} {
		for name, want := range map[string]string{"python": "`python3` and", "pip3": "`python3` and", "nvcc": "do not need", "nvidia-smi": "no driver is installed",
			"mamba": "shell init", "envfix": "~/.local/bin", "torchrun": "~/.local/bin"} {
			text := fmt.Sprintf(say, name)
			a := explained(t, text)
			if all := append(a.Matches, a.Known...); len(all) != 1 || !strings.Contains(all[0].Text+strings.Join(all[0].Fix, " "), want) {
				t.Errorf("%q: %+v, want %s", text, all, want)
			}
		}
	}
}

// A file that the shell may not start is not what that program would have opened, and apt's
// own words are apt's.
func TestShellMayNot(t *testing.T) {
	for text, want := range map[string]string{
		"bash: /usr/bin/nvidia-smi: Permission denied":                          "namei -l /usr/bin/nvidia-smi",
		"zsh: permission denied: ./run.sh":                                      "chmod +x ./run.sh",
		"sh: 1: /opt/envs/x/bin/python: Permission denied":                      "noexec",
		"mkdir: cannot create directory '/opt/conda': Permission denied":        "ls -ld /opt/conda",
		"nvidia-smi: Insufficient Permissions":                                  "usermod",
		"The following packages have been kept back:\n  nvidia-driver-580":      "apt-mark showhold",
		"E: Unable to correct problems, you have held broken packages.":         "apt-mark showhold",
		"The following packages were automatically installed and are no longer": "",
	} {
		a := explained(t, text)
		all := append(a.Matches, a.Known...)
		if len(all) == 0 != (want == "") || len(all) > 0 && !strings.Contains(strings.Join(all[0].Fix, " "), want) {
			t.Errorf("%q: %+v, want %s", text, all, want)
		}
	}
}

// Notebooks say that a kernel is gone in words of their own.
func TestKernelDied(t *testing.T) {
	for text, want := range map[string]string{
		"The kernel appears to have died. It will restart automatically.":                    "free -m",
		"The kernel for Untitled.ipynb appears to have died. It will restart automatically.": "free -m",
		"nbclient.exceptions.DeadKernelError: Kernel died":                                   "free -m",
		"The Kernel crashed while executing code in the current cell or a previous cell.":    "free -m",
		"Your session crashed after using all available RAM.":                                "num_workers",
		"Your notebook tried to allocate more memory than is available. It has restarted.":   "num_workers",
		"Kernel driver not installed (rc=-1908)":                                             "",
	} {
		a := explained(t, text)
		all := append(a.Matches, a.Known...)
		if len(all) == 0 != (want == "") || len(all) > 0 && !strings.Contains(strings.Join(all[0].Fix, " "), want) {
			t.Errorf("%q: %+v, want %s", text, all, want)
		}
	}
}

// glibc, bash, apt and modprobe in another language are known by codes, files and names.
func TestTongues(t *testing.T) {
	for text, want := range map[string]string{
		"ImportError: libcudart.so.12: Ne peut ouvrir le fichier d'objet partagé: Aucun fichier ou dossier de ce type":    "missing_runtime_lib",
		"nvidia-smi: error while loading shared libraries: libnvidia-ml.so.1: 共有オブジェクトファイルを開けません: そのようなファイルやディレクトリはありません": "driver_missing",
		"ImportError: libcudart.so.12: Kann die Shared-Object-Datei nicht öffnen: Datei nicht gefunden":                   "missing_runtime_lib",
		"OSError: [Errno 12] Невозможно выделить память":                                                                  "oom",
		"bash: Zeile 3: nvidia-smi: Befehl nicht gefunden":                                                                "driver_missing",
		"bash: nvidia-smi : commande introuvable":                                                                         "driver_missing",
		"E: Paket nvidia-driver kann nicht gefunden werden.":                                                              "driver_missing",
		"E: Impossible d'obtenir le verrou /var/lib/dpkg/lock-frontend":                                                   "none",
		"modprobe: ERROR: could not insert 'nvidia': Требуемый ключ недоступен":                                           "driver_missing",
	} {
		a := explained(t, text)
		if len(a.Matches) == 0 || a.Matches[0].Cause != want || len(a.Matches[0].Fix) == 0 || !strings.HasPrefix(text, strings.TrimSuffix(a.Matches[0].Quote, "…")) {
			t.Errorf("%q: %+v, want %s", text, a.Matches, want)
		}
	}
	for _, text := range []string{"OSError: libcudnn.so.9: failed to map segment from shared object: Operation not permitted", "bash: python3: unbound variable is not here"} {
		if a := explained(t, text); len(a.Matches) > 0 && slices.Contains([]string{"missing_runtime_lib", "driver_missing"}, a.Matches[0].Cause) {
			t.Errorf("%q: %+v", text, a.Matches)
		}
	}
}

// What the command printed that an answer asks for decides: it is read as that command's
// outcome, or as that of the one it begins with.
// What was looked at and decides nothing is not asked again, and what else was said stays.
func TestThenLookedInVain(t *testing.T) {
	for _, c := range []struct{ text, outcome, look, stays string }{
		{"OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.", "/usr/local/cuda-12.1", "ls -d", "a wheel that is built already"},
		{"nvidia-docker: symbol lookup error: nvidia-docker: undefined symbol: nvmlInit_v2", "| NVIDIA-SMI 304.131 |", "`nvidia-smi`", "the release of the program"},
		{"OSError: CUDA_HOME environment variable is not set.\n$ python -c \"import torch; print(torch.version.cuda)\"\n12.1", "$ ls -d /usr/local/cuda*\n/usr/local/cuda", "torch.version", "a wheel that is built already"},
	} {
		a, err := Then(knowledge(t), c.text, c.outcome, func(*read.Case) {})
		if err != nil || len(a.Matches) == 0 {
			t.Fatal(c.text, err, a)
		}
		if all := strings.Join(a.Matches[0].Fix, "\n"); strings.Contains(all, c.look) || !strings.Contains(all, c.stays) {
			t.Errorf("%s: %s\n%s", c.text, a.Matches[0].Text, all)
		}
	}
}

func TestThen(t *testing.T) {
	m, d, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	const asks = "torch.cuda.is_available() returns False"
	for _, c := range []struct{ text, outcome, check, fix string }{
		{asks, "2.9.1+cpu None", "PY001", "pip install --force-reinstall torch"},
		{asks, "-1", "ACC001", "unset CUDA_VISIBLE_DEVICES"},
		{asks, "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "DRV001", "dkms"},
		{"CUDA error: no kernel image is available for execution on the device", "name, compute_cap\nNVIDIA GeForce RTX 5090, 12.0", "ARC001", "--gpu 12.0"},
	} {
		a, err := Then(knowledge(t), c.text, c.outcome, func(c *read.Case) { c.Matrix, c.Devices = m, d })
		if err != nil || len(a.Matches) == 0 || a.Matches[0].Checks[0] != c.check || !strings.Contains(strings.Join(a.Matches[0].Fix, "\n"), c.fix) {
			t.Errorf("%q then %q: %+v %v", c.text, c.outcome, a.Matches, err)
		}
	}
}

// Of a program's message that is not of the GPU or the installation it is said who
// prints it and where, and no cause.
func TestWhoPrintsIt(t *testing.T) {
	a := explained(t, "ValueError: Unknown mixed_precision mode: x. Choose between y")
	if len(a.Known) != 1 || a.Known[0].Program != "accelerate" || !strings.Contains(a.Known[0].Source, "accelerator.py") || a.Known[0].Cause != "none" {
		t.Errorf("%+v", a.Known)
	}
}

// Of such a message the kind is told, whoever prints it.
func TestKindsOfKnown(t *testing.T) {
	for text, want := range map[string]string{
		"RuntimeError: Only multiplication of row-major and column-major matrices is supported by cuBLASLt": "layout",
		"torch._dynamo.exc.Unsupported: Data-dependent branching":                                           "graph-of-model",
		"TimeoutError: Timed out waiting for worker 3 to pause after 7s":                                    "process-gone",
		"WARNING: tqdm is not installed, will not show the bar.":                                            "harmless",
		"E1127 10:11:12.12 1 a.go:3] unable to load config: failed to parse config: unknown field \"foo\"":  "file-syntax",
		"E1127 10:11:12.12 1 a.go:3] failed to check if device is MIG-enabled: Not Supported":               "not-supported",
		"TypeError: 'frob_coef' has been removed in foo v0.11. Please use 'frob_coeff' instead.":            "removed-call",
		"FrobError: Unexpected error. Status code: 500 Internal Server Error":                               "network",
		"error: unable to load config: toml: line 12: expected key":                                         "file-syntax",
		"E1127 10:11:12.123456 1 a.go:68] error checking MPS daemon health: failed to send command":         "mps-server",
		"E1127 10:11:12.123456 1 a.go:52] failed to get device UUID: Unknown Error":                         "library-internal",
		"numba.core.errors.TypingError: frob indices must be integers or slices":                            "argument",
		"WARNING: CUDA out of memory in an assigner; retrying one image at a time.":                         "harmless",
		"ValueError: Mode has only mode='default'; `tpu_part` must be a positive integer.":                  "argument",
	} {
		if a := explained(t, text); len(a.Known) != 1 || a.Known[0].Message != want || a.Known[0].Program == "slurmd" || len(a.Matches) > 0 {
			t.Errorf("%q: %+v", text, a)
		}
	}
}

// A warning that says itself what to install asks for no more.
func TestWarningThatNamesItsWay(t *testing.T) {
	a := explained(t, "WARNING: gpustat is not installed, run `pip install gpustat` to collect GPU stats.")
	if len(a.Matches) != 1 || a.Matches[0].Cause != "none" || len(a.Matches[0].Fix) > 0 {
		t.Errorf("%+v", a)
	}
}

// A question is answered by hypotheses and one command.
func TestQuestionsNameNoCause(t *testing.T) {
	for _, c := range knowledge(t).Classes {
		if c.Question && (c.Cause != "none" || len(c.Fix) != 1 || strings.Count(c.Fix[0], "`") != 2 || !strings.Contains(c.Text, "Possible")) {
			t.Errorf("%s: %+v", c.ID, c)
		}
	}
	if m := explained(t, "Why isn't my GPU being used by PyTorch?").Matches[0]; m.Severity != know.Note {
		t.Errorf("%+v", m)
	}
}

// Of a text that nobody knows it is said what was read of it and what is similar, and no
// cause.
func TestUnknownText(t *testing.T) {
	a := explained(t, "Traceback (most recent call last):\n  File \"/v/lib/python3.12/site-packages/foo/bar.py\", line 7, in f\n"+
		"frob.FrobError: the frobnicator has not been wound")
	if u := a.Unknown; u == nil || u.Kind != "FrobError" || u.Package != "foo" || u.Place != "foo/bar.py, line 7" || len(a.Matches) > 0 {
		t.Errorf("%+v %+v", a.Matches, u)
	}
	u := explained(t, "Torch happily compiled with CUDA enabled here").Unknown
	if u == nil || len(u.Similar) == 0 || !strings.Contains(u.Similar[0], "not compiled with CUDA enabled") {
		t.Errorf("%+v", u)
	}
}

// A program that is none of Python names the level of what failed, and mostly itself.
func TestErrorsByTheirLevel(t *testing.T) {
	for text, want := range map[string]string{
		"srun: error: --relative option invalid for job allocation request":     "srun option",
		"slurmctld: error: power_save program /usr/sbin/suspend not found":      "slurmctld file-missing",
		"ERROR:root:Found non-finite values in lm loss: [nan]":                  "a program not-a-number",
		`time="2026-01-02T10:00:00Z" level=error msg="invalid part: 3g.20gb.x"`: "a program argument",
	} {
		a := explained(t, text)
		if len(a.Known) == 0 || a.Known[0].Program+" "+a.Known[0].Message != want {
			t.Errorf("%q is %+v, want %s", text, a.Known, want)
		}
	}
}

// What a log writes before its message fills no slot.
func TestSlotsOfTheMessageAlone(t *testing.T) {
	a := explained(t, `time="2026-01-02T10:00:00Z" level=error msg="invalid part: 3g.20gb.x"`)
	if all := strings.Join(a.Known[0].Fix, "\n"); strings.Contains(all, "where time") {
		t.Error(all)
	}
}

// A way out that leads to the build which fits stands also where nothing tells the GPU:
// then it leads to the command that names it.
func TestLeadWithoutMachine(t *testing.T) {
	for _, m := range know.Embedded().Messages {
		for _, way := range m.Fix {
			lead, leads := strings.CutSuffix(way, "{torch}")
			if !leads || lead == "" {
				continue
			}
			for _, match := range explained(t, m.Example).Matches {
				if answer := strings.Join(match.Fix, "\n"); match.Message == m.ID && !strings.Contains(answer, lead+"`") {
					t.Errorf("%s: nobody is told %q:\n%s", m.ID, lead, answer)
				}
			}
		}
	}
}

// Whose sentence it is decides, before a word in it: Python's own, a choice that the line
// lists, a check of sizes; a feature that is named is no rank that was lost.
func TestKindsByTheirSentence(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
python-code    AttributeError: 'Frob' has no attribute 'winding'
python-code    FrobError: the winder raised: list index out of range
choice         ValueError: winding 'INT4' is not supported. It should be one of ['FP32', 'FP16']
sizes          ValueError: Incompatible frob shapes in part 1: [2, 3], [2, 8]
data-type      ValueError: incompatible dtype; asked: int32, found: float32
not-there-yet  FileNotFoundError: winding of frobs is not supported by the simulator
argument       FrobError: the repo frob answer is missing a winding
own-check      AssertionError: num_gpus must >=1, cannot initialize All-To-All
argument       ValueError: The axes of a frob must be contiguous and not repeat
symbol         FrobError: the winder failed: cudaFrob symbol not found.
symbol         RuntimeError: No such operator frob::wind - did you forget to build it?
not-available  ImportError: Frob python support is not available.
falls-back     WARNING 11-20 10:11:12 [frob.py:2] Custom collectives are disabled because this multi-node group does not have MNNVL-capable GPUs on every rank.
`), "\n") {
		want, text, _ := strings.Cut(line, " ")
		if a := explained(t, strings.TrimSpace(text)); len(a.Known) != 1 || a.Known[0].Message != want || len(a.Matches) > 0 {
			t.Errorf("%q is no %s: %+v", text, want, a)
		}
	}
}
