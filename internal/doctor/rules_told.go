package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
)

// toldRules take the way out from what the text itself names: the program that starts the
// container, the image, the two versions that a message compares, the code of a loop.
var toldRules = []rule{
	{[]string{"CTR001"}, "podman, which starts the container", (*exam).podman},
	{[]string{"TK004"}, "the two versions of CUDA that a message compares", (*exam).comparedCUDA},
	{[]string{"TK013", "TK003"}, "an image without what compiles", (*exam).runtimeImage},
	{[]string{"IDX003"}, "a board without a GPU of NVIDIA's", (*exam).raspberry},
	{[]string{"ROC002"}, "torch that computes on an AMD GPU", (*exam).workingROCm},
	{[]string{"PERF001"}, "a loop that moves nothing to the GPU", (*exam).nothingMoved},
	{[]string{"CODE016"}, "a model's heads, and the GPUs that share them", (*exam).divided},
	{[]string{"ACC011"}, "GPUs per task, and what each task sees", (*exam).perTask},
}

// podman: its containers get their GPUs by CDI. Source: docs.nvidia.com, container
// toolkit, support for the container device interface.
func (e *exam) podman() {
	if !strings.Contains(strings.ToLower(e.Place.Container.Text), "podman") {
		return
	}
	for _, f := range e.out {
		if f.Check == "CTR001" {
			f.fix("`sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`, once, and anew after each update of the driver",
				"then `podman run --device nvidia.com/gpu=all …`; where SELinux is on, `--security-opt=label=disable` beside it")
		}
	}
}

var twoVersions = lazy.Regexp(`(?i)CUDA version \(?(\d{1,2}\.\d).*?\b(?:PyTorch|torch)\b.*?(\d{1,2}\.\d)`)

// comparedCUDA: the toolkit that is asked for is the one that the message names.
func (e *exam) comparedCUDA() {
	h := e.hit("cuda-mismatch-build")
	if h == nil {
		return
	}
	m := twoVersions().FindStringSubmatch(h.At.Text)
	if m == nil && h.Captures["nvcc"] != "" && !e.Torch.CUDA.IsZero() { // torch breaks the line between the two
		m = []string{"", h.Captures["nvcc"], e.Torch.CUDA.MajorMinor()}
	}
	if m != nil {
		dashed := strings.ReplaceAll(m[2], ".", "-")
		e.find("TK004", likely, h.At).
			says("nvcc is of CUDA %s, and torch was built with CUDA %s", m[1], m[2]).
			fix(fmt.Sprintf("beside the other one, from NVIDIA's repository: `sudo apt install cuda-toolkit-%s`, "+
				"then `export CUDA_HOME=/usr/local/cuda-%s`", dashed, m[2]),
				fmt.Sprintf("or in a conda environment: `conda install -c nvidia cuda-nvcc=%s`", m[2]),
				"or take a wheel that is built already")
	}
}

// runtimeImage: images named …-runtime hold neither nvcc nor headers; those named …-devel do.
func (e *exam) runtimeImage() {
	image := e.Containers.Runtime
	if image == "" {
		return
	}
	for _, f := range e.out {
		if f.Check == "TK013" || f.Check == "TK003" {
			devel := image[:strings.LastIndex(image, "-")] + "-devel"
			f.fix("the image "+devel+" in place of "+image+": it has the compiler and the headers",
				"or take a wheel that is built already")
		}
	}
}

// raspberry: the CUDA indexes have nothing for it, and it has no use for them.
func (e *exam) raspberry() {
	if s := e.Place.Raspberry; !s.IsZero() && !e.vendor("nvidia") && e.unfound() != nil {
		e.find("IDX003", proven, s, e.unfound().At).explains("PY012", "IDX001").
			says("a Raspberry Pi has no GPU of NVIDIA's, and the CUDA indexes of PyTorch have no wheel for it").
			fix("`pip install torch torchvision`, from the default index: the build for its CPU, on a 64-bit system")
	}
}

// workingROCm: torch says that it sees the GPU, so that a name of ROCm is no fault.
func (e *exam) workingROCm() {
	if e.available() && e.Torch.HIP != "" && len(e.Hits) == 0 {
		e.drop("ROC002")
	}
}

// nothingMoved: torch sees the GPU, it does nothing, and the code that is shown puts
// neither model nor data on it.
func (e *exam) nothingMoved() {
	if said := e.Did.CallsModel; !said.IsZero() && e.Did.Moves.IsZero() && e.available() && !e.Says.Idle.IsZero() {
		e.find("PERF001", likely, said, e.Says.Idle).explains("PERF002").
			says("torch sees the GPU, and the code that is shown puts neither the model nor its data on it").
			fix("`model.to(\"cuda\")` before the loop, `x, y = x.to(\"cuda\"), y.to(\"cuda\")` in it").
			cause("code_device_placement")
	}
}

// perTask: Slurm gives each task its own GPU, which is the first and only one there.
// Source: slurm.schedmd.com, srun, --gpus-per-task.
func (e *exam) perTask() {
	if said := e.Jobs.PerTask; !said.IsZero() && e.Jobs.Counted == 1 {
		e.find("ACC011", likely, said, e.Jobs.CountedAt).severity(know.Note).cause("expectation_misread").
			says("with --gpus-per-task=1 each task sees one GPU, which is cuda:0 in it: that is as it was asked for").
			fix("one process per GPU: leave it so, and use `cuda:0` in every task",
				"one process with all of them: `srun --ntasks=1 --gres=gpu:4`, without --gpus-per-task")
	}
}

// divided: of the numbers of GPUs that divide the heads, the greatest power of two; what is
// left over can take a share of the layers.
func (e *exam) divided() {
	h := e.hit("tensor-parallel-heads")
	if h == nil {
		return
	}
	heads, size := read.Atoi(h.Captures["heads"]), read.Atoi(h.Captures["size"])
	n := 1
	for heads > 0 && heads%(n*2) == 0 && n*2 <= size {
		n *= 2
	}
	ways := []string{fmt.Sprintf("`--tensor-parallel-size %d`", n)}
	if size/n > 1 {
		ways = append(ways, fmt.Sprintf("with %d GPUs: `--tensor-parallel-size %d --pipeline-parallel-size %d`",
			n*(size/n), n, size/n))
	}
	e.find("CODE016", likely, h.At).fix(ways...).
		says("%d attention heads cannot be divided among %d GPUs", heads, size)
}
