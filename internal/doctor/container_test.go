package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"

	"github.com/google/go-cmp/cmp"
)

const (
	composeWithout = "services:\n  db:\n    image: postgres:16\n    volumes:\n      - data:/var/lib/postgresql/data\n  chat:\n    image: vllm/vllm-openai:v0.11\n    command: --model x\n    ports:\n      - \"8000:8000\"\n"
	composeWith    = composeWithout + "    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              count: all\n              capabilities: [gpu]\n"
	pod            = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: train\nspec:\n  containers:\n  - name: train\n    image: nvcr.io/nvidia/pytorch:25.10-py3\n    command: [\"python\", \"train.py\"]\n"
	sees           = "RuntimeError: Found no NVIDIA driver on your system.\n"
)

// containerTexts are texts about containers, and what is found first: "" nothing
// that is wrong.
var containerTexts = []struct{ name, check, words, text string }{
	{
		"compose without a GPU, and the error", "CTR018",
		`service "chat" of the compose file asks for no GPU`, composeWithout + "\n" + sees,
	},
	{
		"a service of compose ended, and the host sees the GPU", "CTR001", "without access to the GPU",
		"work_1  | " + sees + "site_work_1 exited with code 1\nGracefully stopping... (press Ctrl+C again to force)\n" +
			"me@host:~$ nvidia-smi\n| NVIDIA-SMI 510.47.03    Driver Version: 510.47.03    CUDA Version: 11.6     |\n",
	},
	{"compose without a GPU, alone", "CTR018", `service "chat"`, composeWithout},
	{"compose with one", "", "", composeWith},
	{"compose with one, quoted in a forum", "", "", quotedText(composeWith)},
	{
		"compose without one, quoted in a forum", "CTR018", `service "chat"`,
		"My GPU is not detected in the container:\n\n" + quotedText(composeWithout),
	},
	{
		"a service alone, as pasted from the middle", "CTR018", `service "ollama"`,
		"ollama does not use the GPU, here is my service\n```yaml\n  ollama:\n    image: ollama/ollama:latest\n    ports:\n      - 11434:11434\n```\n",
	},
	{
		"the same, with gpus", "", "",
		"here is my service\n```yaml\n  ollama:\n    image: ollama/ollama:latest\n    gpus: all\n```\n",
	},
	{
		"the list of capabilities over several lines", "", "",
		strings.Replace(composeWith, "capabilities: [gpu]",
			"capabilities:\n                - gpu\n                - utility", 1),
	},
	{
		"a reservation without capabilities", "CTR018", "without the capability gpu",
		strings.Replace(composeWith, "              capabilities: [gpu]\n", "", 1),
	},
	{
		"with other capabilities", "CTR018", "without the capability gpu",
		strings.Replace(composeWith, "[gpu]", "[compute]", 1),
	},
	{
		"docker that was given a GPU, and no driver", "CTR001", "the container was started with a GPU, and nothing of the driver is in it",
		"$ docker run --rm --gpus all pytorch/pytorch python train.py\ndocker: " + sees,
	},
	{"runtime: nvidia", "", "", composeWithout + "    runtime: nvidia\n"},
	{"CDI", "", "", composeWithout + "    devices:\n      - nvidia.com/gpu=all\n"},
	{
		"a site without anything for a GPU", "", "",
		"services:\n  web:\n    image: nginx:1.27\n  db:\n    image: postgres:16\n",
	},
	{
		"the GPU hidden by a variable", "CTR022", "void",
		composeWith + "    environment:\n      - NVIDIA_VISIBLE_DEVICES=void\n",
	},
	{
		"the GPU hidden by another", "CTR022", "none",
		composeWith + "    environment:\n      - NVIDIA_VISIBLE_DEVICES=none\n",
	},
	{
		"the GPU hidden in a map", "CTR022", "none",
		composeWith + "    environment:\n      NVIDIA_VISIBLE_DEVICES: \"none\"\n",
	},
	{
		"without compute", "CTR009", "without compute",
		composeWith + "    environment:\n      NVIDIA_DRIVER_CAPABILITIES: video,utility\n",
	},
	{
		"docker run", "CTR001", "starts the container without a GPU",
		"$ docker run --rm -it \\\n    -v $PWD:/w \\\n    pytorch/pytorch:2.9.1 python -c 'import torch; print(torch.cuda.is_available())'\nFalse\n",
	},
	{
		"docker run with --gpus", "", "",
		"$ docker run --rm --gpus all -it pytorch/pytorch:2.9.1 nvidia-smi -L\nGPU 0: NVIDIA A10 (UUID: GPU-1)\n",
	},
	{
		"docker run with the GPU further down", "", "",
		"docker run -it \\\n  --shm-size 8g \\\n  --device nvidia.com/gpu=all \\\n  nvcr.io/nvidia/pytorch:25.10-py3\n",
	},
	{"podman", "CTR001", "podman run", "podman run -it nvcr.io/nvidia/pytorch:25.10-py3 python x.py\n" + sees},
	{"apptainer", "CTR024", "without --nv", "apptainer exec pytorch.sif python train.py\n" + sees},
	{"apptainer with --nv", "", "", "apptainer exec --nv pytorch.sif python train.py\n"},
	{"a pod without a limit", "CTR022", "has no limit nvidia.com/gpu", pod + "\n" + sees},
	{"a pod with one", "", "", pod + "    resources:\n      limits:\n        nvidia.com/gpu: 1\n"},
	{
		"a pod with a request alone", "CTR022", "under requests alone",
		pod + "    resources:\n      requests:\n        nvidia.com/gpu: 1\n" + sees,
	},
	{"a pod with a slice", "", "", pod + "    resources:\n      limits:\n        nvidia.com/mig-1g.10gb: 1\n"},
	{
		"a pod with none", "CTR022", "has no limit",
		pod + "    resources:\n      limits:\n        nvidia.com/gpu: 0\n" + sees,
	},
	{"a pod with a runtime class", "", "", strings.Replace(pod, "spec:\n", "spec:\n  runtimeClassName: nvidia\n", 1)},
	{
		"a pod whose variable hides it", "CTR022", "none",
		pod + "    env:\n    - name: NVIDIA_VISIBLE_DEVICES\n      value: none\n    resources:\n      limits:\n        nvidia.com/gpu: 1\n",
	},
	{
		"a runtime that docker lacks", "CTR003", "docker has no runtime nvidia",
		composeWithout + "    runtime: nvidia\n\n Runtimes: io.containerd.runc.v2 runc\n Default Runtime: runc\n",
	},
	{
		"a runtime that docker has", "", "",
		composeWithout + "    runtime: nvidia\n\n Runtimes: io.containerd.runc.v2 nvidia runc\n",
	},
	{
		"a runtime of daemon.json", "", "",
		composeWithout + "    runtime: nvidia\n\n{\n  \"runtimes\": {\n    \"nvidia\": {\n      \"path\": \"nvidia-container-runtime\"\n    }\n  }\n}\n",
	},
	{
		"a Dockerfile with CPU wheels", "PY001", "the Dockerfile installs the CPU build",
		"FROM python:3.12-slim\nRUN apt-get update && \\\n    pip install torch --index-url https://download.pytorch.org/whl/cpu\nCMD [\"python\", \"x.py\"]\n",
	},
	{
		"a Dockerfile with CUDA wheels", "", "",
		"FROM python:3.12-slim\nRUN pip install torch --index-url https://download.pytorch.org/whl/cu128\n",
	},
	{"a Dockerfile on musl", "IDX003", "musl", "FROM python:3.12-alpine\nRUN pip install torch\n"},
	{
		"a Dockerfile with a driver", "CTR010", "installs a driver of its own",
		"FROM nvidia/cuda:12.8.1-runtime-ubuntu24.04\nRUN apt-get update && apt-get install -y \\\n    python3 \\\n    nvidia-utils-570 \\\n    curl\n",
	},
	{"a Dockerfile that hides the GPU", "CTR022", "void", "FROM python:3.12\nENV NVIDIA_VISIBLE_DEVICES void\n"},
	{
		"a Dockerfile that asks for a GPU", "CTR001", "sees no GPU",
		"FROM pytorch/pytorch:2.9.1\nRUN python -c \"import torch; assert torch.cuda.is_available()\"\nstep 2 fails: AssertionError, CUDA is not available\n",
	},
	{"prose about images", "", "", "FROM what I read, services: none of them matter.\nimage: see below\n"},
}

func quotedText(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ") + "\n"
}

func TestContainerTexts(t *testing.T) {
	for _, c := range containerTexts {
		t.Run(c.name, func(t *testing.T) {
			r, p := examine(t, c.text)
			if c.check == "" {
				for _, f := range r.Findings {
					if f.Severity > know.Note {
						t.Errorf("%s %s %q %q", f.Check, f.Severity, f.Text, f.Evidence)
					}
				}
				return
			}
			if len(r.Findings) == 0 || r.Findings[0].Check != c.check ||
				!strings.Contains(r.Findings[0].Text, c.words) || len(r.Findings[0].Fix) == 0 {
				t.Errorf("%+v\n%+v", r.Findings, p.Containers.Workloads)
			}
		})
	}
}

// What is read of a file is the same wherever it stands and however it is indented.
func TestWorkloads(t *testing.T) {
	_, p := examine(t, "hello\n\n"+strings.ReplaceAll(composeWith, "  ", "    ")+"\nand\n\n"+pod)
	for _, w := range p.Containers.Workloads {
		w.At = read.Evidence{}
	}
	want := []*read.Workload{
		{Kind: "compose", Name: "db", About: " postgres:16"},
		{Kind: "compose", Name: "chat", About: " vllm/vllm-openai:v0.11 --model x", Image: "vllm/vllm-openai:v0.11", Wants: true, GPUCap: true},
		{Kind: "pod", Name: "containers", About: ` nvcr.io/nvidia/pytorch:25.10-py3 ["python", "train.py"]`, Image: "nvcr.io/nvidia/pytorch:25.10-py3"},
	}
	if diff := cmp.Diff(want, p.Containers.Workloads); diff != "" {
		t.Error(diff)
	}
}
