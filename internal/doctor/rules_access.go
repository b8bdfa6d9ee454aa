package doctor

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// accessRules look at who may use the GPU, and at what holds it.
var accessRules = []rule{
	{[]string{"ACC001"}, "CUDA_VISIBLE_DEVICES and the list of GPUs", (*exam).visibleDevices},
	{[]string{"ACC008", "ROC003"}, "a permission refused", (*exam).permission},
	{[]string{"MG001"}, "shared memory and NCCL", (*exam).sharedMemory},
	{[]string{"MG006"}, "peer access, and GPUs that have none", (*exam).noPeers},
	{[]string{"ACC012"}, "a worker that ended, on a system that starts processes anew", (*exam).spawnedWorker},
	{[]string{"MG009"}, "the interface that NCCL chose, and a connection that failed", (*exam).innerInterface},
	{[]string{"HW002"}, "several hardware messages", (*exam).hardware},
	{[]string{"DRV014"}, "what lspci and nvidia-smi list", (*exam).missingGPU},
	{[]string{"ACC001"}, "the GPUs of CUDA_VISIBLE_DEVICES and the processes started on them", (*exam).moreProcesses},
	{[]string{"ACC001"}, "an index set in a script", (*exam).lateIndex},
	{[]string{"ACC003"}, "the order of `import torch` and of the variable's setting", (*exam).lateVariable},
}

// visibleDevices: the variable hides the GPUs. An index that does not exist hides
// itself and everything after it.
func (e *exam) visibleDevices() {
	for _, name := range []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"} {
		v, set := e.Machine.Env[name]
		if !set {
			continue
		}
		said := e.From.Env[name]
		bad := ""
		n := len(e.Machine.GPUs)
		one := strings.Contains(strings.ToLower(said.Text), "single") || e.clue("cvd-set-in-script")
		for i, entry := range strings.Split(v, ",") {
			entry = strings.TrimSpace(entry)
			k := read.Atoi(entry)
			switch {
			case entry == "NoDevFiles" && i == 0 && e.schedulerGaveNone(said):
			case i == 0 && (entry == "" || entry == "-1" || strings.EqualFold(entry, "none")):
				bad = fmt.Sprintf("%s=%q hides every GPU", name, v)
			case strings.HasPrefix(entry, "GPU-") && i == 0 && e.Pasted && e.unavailable() && len(e.Hits) == 0:
				bad = fmt.Sprintf("%s names a GPU by its UUID: one that is not there hides every GPU, and torch 1.13 counts none so",
					name)
			case strings.HasPrefix(entry, "GPU-"), strings.HasPrefix(entry, "MIG"), entry == "all" && name != "CUDA_VISIBLE_DEVICES":
			case entry == "all" && i == 0:
				bad = name + `="all" hides every GPU: the word is one of NVIDIA_VISIBLE_DEVICES, and CUDA wants indexes or UUIDs`
			case k < 0 && len(entry) < 12 && i == 0:
				bad = fmt.Sprintf("%s=%q names no GPU", name, v)
			case e.Listed && n > 0 && k >= n, i == 0 && e.Says.GPUs > 0 && k >= e.Says.GPUs, one && k >= 1 && i == 0:
				bad = fmt.Sprintf("%s=%q names a GPU that is not there: it and those after it are hidden", name, v)
			}
		}
		if _, trouble := e.has(append([]string{"cuda-ordinal", "torch-unknown-error"},
			noDevice...)...); bad != "" && (trouble || e.unavailable() || !e.Pasted) {
			e.find("ACC001", proven, said, e.Torch.AvailableAt).
				text(bad).
				fix(unhide(name, said)...).
				explains("ACC002")
		}
	}
}

// unhide is how a variable lets GPUs through again: where a script sets it, a shell that
// does not have it changes nothing.
func unhide(name string, said read.Evidence) []string {
	if strings.Contains(said.Text, "environ") || strings.Contains(said.Text, "putenv") {
		return []string{"take that line out of the script, or set " + name + " there to an index of `nvidia-smi -L`, before torch is imported"}
	}
	return []string{"`unset " + name + "`, or set it to an index or UUID of `nvidia-smi -L`"}
}

// schedulerGaveNone: Slurm writes this word where a job asked for no GPU: to take the
// variable away gives none. Source: slurm.schedmd.com, gres.html.
func (e *exam) schedulerGaveNone(said read.Evidence) bool {
	e.find("ACC011", proven, said, e.Torch.AvailableAt).
		text("Slurm gave the job no GPU, since it asked for none: that is what CUDA_VISIBLE_DEVICES=NoDevFiles says").
		fix("ask for one: `srun --gres=gpu:1 --pty bash`", "in a job's script: `#SBATCH --gres=gpu:1`").
		explains("ACC001", "ACC002", "PY001", "GPU001", "DRV013")
	return true
}

var processesAsked = lazy.Regexp(`(?i)` + read.ProcessCount)

// moreProcesses: a launcher starts more processes than the variable leaves GPUs,
// and each takes the GPU of its number.
func (e *exam) moreProcesses() {
	asked := e.Did.Launch
	ordinal, failed := e.has("cuda-ordinal")
	list, _, _ := strings.Cut(e.Machine.Env["CUDA_VISIBLE_DEVICES"], " ")
	m := processesAsked().FindStringSubmatch(asked.Text) // nil where a long line was clipped before it
	if m == nil || !failed || list == "" {
		return
	}
	n, visible := read.Atoi(m[1]), len(strings.Split(strings.Trim(list, ","), ","))
	if n > visible {
		e.find("ACC001", likely, e.From.Env["CUDA_VISIBLE_DEVICES"], asked, ordinal).
			says("%d processes are started and CUDA_VISIBLE_DEVICES leaves %d GPUs", n, visible).
			fix("as many processes as the variable names GPUs").
			explains("ACC002")
	}
}

// lateIndex: a script that sets the variable itself.
func (e *exam) lateIndex() {
	if _, ok := e.has("torch-no-gpus", "cuda-no-device", "cuda-ordinal"); ok && e.clue("cvd-set-in-script") {
		e.find("ACC001", likely, e.From.Env["CUDA_VISIBLE_DEVICES"]).
			says("the script sets CUDA_VISIBLE_DEVICES itself")
	}
}

// lateVariable: a script sets the variable below its import of torch. Since torch
// 1.12 that may be too late even before the first call of CUDA (pytorch issue
// 80876).
func (e *exam) lateVariable() {
	imported, set := e.Did.ImportTorch, e.Did.SetDevices
	if imported.IsZero() || set.IsZero() || imported.File != set.File || imported.Line >= set.Line {
		return
	}
	e.find("ACC003", hint, imported, set).
		says("CUDA_VISIBLE_DEVICES is set after torch was imported").
		fix("set it in the shell, or in the first lines of the script, before `import torch`")
}

func gib(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// permission: a device that may not be opened.
func (e *exam) permission() {
	s, ok := e.has("rocm-kfd-permission", "nvml-permission")
	if !ok {
		return
	}
	check := "ACC008"
	if e.vendor(machine.AMD) || e.Torch.HIP != "" {
		check = "ROC003"
	}
	e.find(check, message+2, s).cause("device_permissions")
}

// sharedMemory: /dev/shm refuses, whatever the wording.
func (e *exam) sharedMemory() {
	if s, ok := e.has("nccl-shm"); ok && strings.Contains(strings.ToLower(s.Text), "permission") {
		e.find("MG001", likely, s).
			says("/dev/shm may not be written by this user").
			fix("`sudo chmod 1777 /dev/shm`")
	}
}

// spawnedWorker: on Windows and macOS a worker imports the program anew, and one without
// the guard starts workers itself. Source: docs.python.org, multiprocessing, programming guidelines.
func (e *exam) spawnedWorker() {
	h := e.hit("worker-exited")
	if os := e.Machine.Platform.OS; h == nil || os != "windows" && os != "macos" {
		return
	}
	e.find("ACC012", likely, h.At, e.From.OS).
		text("a DataLoader worker ended: here each one imports the program anew, which must be written for that").
		fix("put what starts the training under `if __name__ == \"__main__\":`; in a notebook the dataset's class belongs in a file of its own",
			"`num_workers=0` shows the error that the worker had").
		explains("MG002", "MG001")
}

// innerInterface: NCCL takes the first interface that it finds, and that of a container's
// bridge leads to no other machine. Source: docs.nvidia.com, NCCL, NCCL_SOCKET_IFNAME.
func (e *exam) innerInterface() {
	s, failed := e.has("nccl-socket", "nccl-remote", "nccl-system", "nccl-timeout")
	at := e.Jobs.Interface
	if !failed || at.IsZero() {
		return
	}
	e.find("MG009", likely, at, s).
		text("NCCL talks over the bridge of containers on this machine, which leads to no other one").
		fix("on every node: `export NCCL_SOCKET_IFNAME=^docker,br-,virbr,veth,lo`, or the interface by its name, as `ip -brief addr` lists it",
			"where gloo is used too, GLOO_SOCKET_IFNAME with that name").
		explains("MG010", "MG012")
}

// missingGPU: several GPUs of one kind are on the bus, and nvidia-smi lists fewer.
// A GPU of another kind may simply be one that this driver does not know, and a
// container may be given less than the host has.
func (e *exam) missingGPU() {
	n := len(e.Machine.GPUs)
	if !e.Listed || n == 0 || len(e.Bus) <= n || e.Machine.Platform.Environment == machine.Container ||
		slices.ContainsFunc(e.Bus, func(s string) bool { return s != e.Bus[0] }) {
		return
	}
	e.find("DRV014", strong, e.From.Bus, e.From.GPU).
		says("lspci lists %d GPUs of one kind and nvidia-smi %d of them", len(e.Bus), n)
}

// hardware: a GPU that fell off the bus is the reason of whatever else is said.
func (e *exam) hardware() {
	if s, ok := e.has("xid-fallen", "xid-power", "device-handle"); ok {
		e.find("HW002", likely, s)
	}
}

// noPeers: some series of GeForce have no peer access at all, so no setting of the machine
// is in the way.
func (e *exam) noPeers() {
	s, ok := e.has("p2p-disable", "cuda-ipc")
	if !ok || !strings.Contains(s.Text, "peer access is not supported") {
		return
	}
	for _, g := range e.Machine.GPUs {
		for _, series := range e.limit("geforce-without-peers").Values {
			if strings.Contains(g.Name, series) {
				e.find("MG006", likely, s, e.From.GPU).
					says("GeForce %s GPUs cannot reach each other's memory", series).
					explains("MG005", "MG012")
				return
			}
		}
	}
}
