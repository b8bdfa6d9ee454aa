package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/text"
)

// kubernetes is a Job for a Linux profile: nodes by the labels of NVIDIA's
// GPU feature discovery, an init container that proves the image on the node's GPU, and
// the driver's floor for the container runtime. The image is the one that the form
// dockerfile builds.
func (p export) kubernetes(d *text.Doc) error {
	name := text.Word(p.Name)
	d.Add("# From "+File+", profile %s. The image: `envfix lock export --format dockerfile --profile %s`.\n", name, name)
	d.Add("# Written for the labels of NVIDIA's GPU feature discovery; it was run on no cluster.\n")
	d.Add("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %s\nspec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n",
		p.job())
	d.Add("      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n")
	for _, term := range p.kubeTerms() {
		d.Add("              - matchExpressions:\n")
		for _, e := range term {
			d.Add("                  - {key: %s, operator: %s, values: [%s]}\n", text.Word(e[0]), text.Word(e[1]), text.JSON(e[2]))
		}
	}
	container := func(list, name string, code text.Quoted) {
		d.Add("      %s:\n        - name: %s\n          image: %s\n          command: [python, -I, -c, %s]\n", text.Word(list), text.Word(name),
			text.JSON("torch-"+p.Name+":locked"), code.JSON())
		if p.Match.GPU != "nvidia" {
			return
		}
		if major := p.driverMajor(); major > 0 {
			d.Add("          env:\n            - {name: NVIDIA_REQUIRE_CUDA, value: \"driver>=%s\"}\n", text.Int(major))
		}
		d.Add("          resources:\n            limits:\n              nvidia.com/gpu: 1\n")
	}
	container("initContainers", "verify", p.proof())
	container("containers", "job", text.Const("import torch; print(torch.__version__)"))
	return nil
}

// kubeTerms are what a node must have: one of the terms, all of its expressions. A
// label's number is compared as an integer, so a floor counts by its branch; below it
// within the branch the container runtime and the init container refuse. The labels of
// the driver were renamed; discovery of before writes the older ones alone
// (https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery).
func (p *Profile) kubeTerms() [][][3]string {
	arch := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[p.Match.Arch]
	base := [][3]string{{"kubernetes.io/os", "In", "linux"}, {"kubernetes.io/arch", "In", arch}}
	if p.Match.GPU != "nvidia" {
		return [][][3]string{base}
	}
	var out [][][3]string
	for _, sm := range p.Match.SMs {
		major, minor, _ := strings.Cut(sm, ".")
		for _, label := range []string{"cuda.driver-version.major", "cuda.driver.major"} {
			term := append(base[:2:2], [3]string{"nvidia.com/gpu.compute.major", "In", major}, [3]string{"nvidia.com/gpu.compute.minor", "In", minor})
			if n := p.driverMajor(); n > 0 {
				term = append(term, [3]string{"nvidia.com/" + label, "Gt", strconv.Itoa(n - 1)})
			}
			out = append(out, term)
		}
	}
	return out
}

// job is the profile's name as a cluster takes one.
func (p *Profile) job() text.Quoted {
	return text.JSON("torch-" + strings.ReplaceAll(p.Name, "_", "-"))
}

// driverMajor is the branch of the driver's floor, 0 where there is none.
func (p *Profile) driverMajor() int {
	major, _, _ := strings.Cut(strings.TrimPrefix(p.Match.Driver, ">="), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}

// proof is Python that ends with an error where torch is not the profile's, or does
// not compute on the GPU that the profile is for.
func (p *Profile) proof() text.Quoted {
	if p.Match.GPU == "nvidia" || p.Match.GPU == "amd" {
		return text.Form("%s; x = torch.ones(8, 8, device='cuda'); assert (x @ x).sum().item() == 512", p.assertion())
	}
	return p.assertion()
}

// sky is a task of SkyPilot: accelerators, the locked packages in setup, and
// the proof before the job.
func (p export) sky(d *text.Doc) error {
	d.Add("# From "+File+", profile %s. Beside it, in the working directory: %s\n# It was run on no cloud.\n", text.Word(p.Name), text.Word(p.file))
	d.Add("name: %s\nworkdir: .\n", p.job())
	if p.Match.GPU == "nvidia" {
		names := slices.Concat(text.Each(p.Match.SMs, func(sm string) []string { return cloudGPUs[sm] })...)
		if len(names) == 0 {
			return fmt.Errorf("no cloud's name is known for a GPU of compute capability %s", strings.Join(p.Match.SMs, ", "))
		}
		one := func(name string) text.Quoted { return text.Form("%s: 1", text.JSON(name)) }
		d.Add("resources:\n  accelerators: {%s}\n", text.Join(text.Each(names, one), ", "))
	}
	d.Add("setup: |\n")
	for _, line := range p.shellSetup() {
		d.Add("  %s\n", line)
	}
	d.Add("run: |\n  . ~/torch-env/bin/activate\n  python -c 'import torch; print(torch.__version__)'\n")
	return nil
}

// cloudGPUs are the names under which clouds offer GPUs, as SkyPilot's catalogue and
// dstack list them, by compute capability (`sky show-gpus`).
var cloudGPUs = map[string][]string{
	"6.0": {"P100"}, "6.1": {"P4"}, "7.0": {"V100"}, "7.5": {"T4"}, "8.0": {"A100", "A100-80GB"}, "8.6": {"A10G", "A10"},
	"8.9": {"L4", "L40S"}, "9.0": {"H100", "H200"}, "10.0": {"B200"}, "12.0": {"RTX5090"},
}

// shellSetup are the lines of a shell that make the environment and prove it.
func (p export) shellSetup() []text.Quoted {
	return []text.Quoted{
		text.Const("set -e"),
		text.Const("python3 -m venv ~/uv-env"),
		text.Const("~/uv-env/bin/python -m pip install -q uv==" + dockerUV),
		text.Form("~/uv-env/bin/uv venv --quiet --allow-existing --python %s ~/torch-env", text.Word(p.Python)),
		text.Form("~/uv-env/bin/uv pip install --python ~/torch-env/bin/python --no-deps --require-hashes --only-binary :all: -r %s", text.Word(p.file)),
		text.Form("~/torch-env/bin/python -I -c \"%s\"", p.proof()),
	}
}

// dstack is a task of dstack, which asks for GPUs by compute capability.
func (p export) dstack(d *text.Doc) error {
	d.Add("# From "+File+", profile %s. Beside it: %s\n# It was run on no cloud.\ntype: task\nname: %s\n", text.Word(p.Name), text.Word(p.file),
		p.job())
	d.Add("files:\n  - %s\ncommands:\n", text.Word(p.file))
	for _, line := range append(p.shellSetup(), text.Const("~/torch-env/bin/python -c 'import torch; print(torch.__version__)'")) {
		d.Add("  - %s\n", line.JSON())
	}
	if p.Match.GPU == "nvidia" {
		least := p.Match.SMs[0] // dstack asks for a capability of at least this
		var names []text.Quoted
		for _, sm := range p.Match.SMs {
			names = append(names, text.Each(cloudGPUs[sm], text.Word)...)
			if floorOf(sm).Less(floorOf(least)) {
				least = sm
			}
		}
		d.Add("resources:\n  gpu:\n    vendor: nvidia\n    compute_capability: %s\n    count: 1\n", text.JSON(least))
		if len(names) > 0 {
			d.Add("    name: [%s]\n", text.Join(names, ", "))
		}
	}
	return nil
}

// ray is a runtime environment for `ray job submit --runtime-env`: uv
// installs the locked packages on each node. The Python is the cluster's own. list is
// the requirements file with its hashes, of which Ray takes the lines and no path.
func (p export) ray(d *text.Doc) error {
	d.Add("# From "+File+", profile %s.\n# For a cluster whose Python is %s. It was run on no cluster.\nuv:\n  packages:\n", text.Word(p.Name), text.Word(p.Python))
	for line := range strings.Lines(strings.ReplaceAll(p.list, "\\\n", "")) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "#") {
			d.Add("    - %s\n", text.JSON(line))
		}
	}
	d.Add("  uv_version: \"==" + dockerUV + "\"\n  uv_check: false\n" +
		"  uv_pip_install_options: [\"--no-deps\", \"--require-hashes\", \"--only-binary\", \":all:\"]\n")
	return nil
}

// cloudInit is user data that makes the environment at the first start.
// list is the requirements file with its hashes.
func (p export) cloudInit(d *text.Doc) error {
	d.Add("#cloud-config\n# From "+File+", profile %s: %s. It was started on no machine.\n", text.Comment(p.Name), text.Comment(p.Match.Text()))
	d.Add("packages: [python3-venv]\nwrite_files:\n  - path: /opt/envfix/requirements.txt\n    permissions: \"0644\"\n    content: |\n")
	d.Add("%s", text.Lines(p.list, 6))
	env := "/opt/envs/" + p.Name
	d.Add("runcmd:\n")
	for _, argv := range [][]string{
		{"python3", "-m", "venv", "/opt/envfix/uv"},
		{"/opt/envfix/uv/bin/python", "-m", "pip", "install", "-q", "uv==" + dockerUV},
		{"/opt/envfix/uv/bin/uv", "venv", "--quiet", "--python", p.Python, env},
		{"/opt/envfix/uv/bin/uv", "pip", "install", "--python", env + "/bin/python", "--no-deps", "--require-hashes", "--only-binary", ":all:",
			"-r", "/opt/envfix/requirements.txt"},
	} {
		d.Add("  - [%s]\n", text.Join(text.Each(argv, text.JSON), ", "))
	}
	d.Add("  - [%s, \"-I\", \"-c\", %s]\n", text.JSON(env+"/bin/python"), p.proof().JSON())
	return nil
}

// devcontainer is a devcontainer.json that builds the image of the form
// dockerfile, named Dockerfile beside it, and proves it when it was made.
func (p export) devcontainer(d *text.Doc) error {
	d.Add("{\n  \"name\": %s,\n  \"build\": { \"dockerfile\": \"Dockerfile\" },\n", text.JSON("torch-"+p.Name))
	if p.Match.GPU == "nvidia" {
		d.Add("  \"hostRequirements\": { \"gpu\": true },\n  \"runArgs\": [\"--gpus\", \"all\"],\n")
		if n := p.driverMajor(); n > 0 {
			d.Add("  \"containerEnv\": { \"NVIDIA_REQUIRE_CUDA\": \"driver>=%s\" },\n", text.Int(n))
		}
	}
	d.Add("  \"postCreateCommand\": [\"python\", \"-I\", \"-c\", %s]\n}\n", p.proof().JSON())
	return nil
}
