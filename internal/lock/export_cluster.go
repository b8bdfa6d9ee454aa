package lock

import (
	"fmt"
	"strconv"
	"strings"
)

// ExportKubernetes returns a Job for a Linux profile: nodes by the labels of NVIDIA's
// GPU feature discovery, an init container that proves the image on the node's GPU, and
// the driver's floor for the container runtime. The image is the one that the form
// dockerfile builds.
func (p *Profile) ExportKubernetes() (string, error) {
	if p.Match.OS != "linux" {
		return "", p.notLinux()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s, profile %s. The image: `envfix lock export --format dockerfile --profile %s`.\n", File, p.Name, p.Name)
	b.WriteString("# Written for the labels of NVIDIA's GPU feature discovery; it was run on no cluster.\n")
	fmt.Fprintf(&b, "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %s\nspec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n",
		strconv.Quote("torch-"+strings.ReplaceAll(p.Name, "_", "-")))
	b.WriteString("      affinity:\n        nodeAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n")
	for _, term := range p.kubeTerms() {
		b.WriteString("              - matchExpressions:\n")
		for _, e := range term {
			fmt.Fprintf(&b, "                  - {key: %s, operator: %s, values: [%q]}\n", e[0], e[1], e[2])
		}
	}
	container := func(list, name, code string) {
		fmt.Fprintf(&b, "      %s:\n        - name: %s\n          image: %q\n          command: [python, -I, -c, %q]\n", list, name, "torch-"+p.Name+":locked", code)
		if p.Match.GPU != "nvidia" {
			return
		}
		if major := p.driverMajor(); major > 0 {
			fmt.Fprintf(&b, "          env:\n            - {name: NVIDIA_REQUIRE_CUDA, value: \"driver>=%d\"}\n", major)
		}
		b.WriteString("          resources:\n            limits:\n              nvidia.com/gpu: 1\n")
	}
	container("initContainers", "verify", p.proof())
	container("containers", "job", "import torch; print(torch.__version__)")
	return b.String(), nil
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

// driverMajor is the branch of the driver's floor, 0 where there is none.
func (p *Profile) driverMajor() int {
	text, _, _ := strings.Cut(strings.TrimPrefix(p.Match.Driver, ">="), ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// proof is Python that ends with an error where torch is not the profile's, or does
// not compute on the GPU that the profile is for.
func (p *Profile) proof() string {
	s := p.assertion()
	if p.Match.GPU == "nvidia" || p.Match.GPU == "amd" {
		s += "; x = torch.ones(8, 8, device='cuda'); assert (x @ x).sum().item() == 512"
	}
	return s
}

func (p *Profile) notLinux() error {
	return fmt.Errorf("profile %s is for %s; this form is for Linux", p.Name, p.Match.OS)
}

// ExportSky returns a task of SkyPilot: accelerators, the locked packages in setup, and
// the proof before the job.
func (p *Profile) ExportSky(requirements string) (string, error) {
	if p.Match.OS != "linux" {
		return "", p.notLinux()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s, profile %s. Beside it, in the working directory: %s\n# It was run on no cloud.\n", File, p.Name, requirements)
	fmt.Fprintf(&b, "name: %s\nworkdir: .\n", strconv.Quote("torch-"+strings.ReplaceAll(p.Name, "_", "-")))
	if p.Match.GPU == "nvidia" {
		var names []string
		for _, sm := range p.Match.SMs {
			names = append(names, cloudGPUs[sm]...)
		}
		if len(names) == 0 {
			return "", fmt.Errorf("no cloud's name is known for a GPU of compute capability %s", strings.Join(p.Match.SMs, ", "))
		}
		b.WriteString("resources:\n  accelerators: {")
		for i, n := range names {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q: 1", n)
		}
		b.WriteString("}\n")
	}
	b.WriteString("setup: |\n")
	for _, line := range p.shellSetup(requirements, "~/torch-env") {
		b.WriteString("  " + line + "\n")
	}
	b.WriteString("run: |\n  . ~/torch-env/bin/activate\n  python -c 'import torch; print(torch.__version__)'\n")
	return b.String(), nil
}

// cloudGPUs are the names under which clouds offer GPUs, as SkyPilot's catalogue and
// dstack list them, by compute capability (`sky show-gpus`).
var cloudGPUs = map[string][]string{
	"6.0": {"P100"}, "6.1": {"P4"}, "7.0": {"V100"}, "7.5": {"T4"}, "8.0": {"A100", "A100-80GB"}, "8.6": {"A10G", "A10"},
	"8.9": {"L4", "L40S"}, "9.0": {"H100", "H200"}, "10.0": {"B200"}, "12.0": {"RTX5090"},
}

// shellSetup are the lines of a shell that make the environment and prove it.
func (p *Profile) shellSetup(requirements, env string) []string {
	return []string{
		"set -e",
		"python3 -m venv ~/uv-env",
		"~/uv-env/bin/python -m pip install -q uv==" + dockerUV,
		fmt.Sprintf("~/uv-env/bin/uv venv --quiet --allow-existing --python %s %s", p.Python, env),
		fmt.Sprintf("~/uv-env/bin/uv pip install --python %s/bin/python --no-deps --require-hashes --only-binary :all: -r %s", env, requirements),
		fmt.Sprintf("%s/bin/python -I -c \"%s\"", env, p.proof()),
	}
}

// ExportDstack returns a task of dstack, which asks for GPUs by compute capability.
func (p *Profile) ExportDstack(requirements string) (string, error) {
	if p.Match.OS != "linux" {
		return "", p.notLinux()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s, profile %s. Beside it: %s\n# It was run on no cloud.\ntype: task\nname: %s\n", File, p.Name, requirements,
		strconv.Quote("torch-"+strings.ReplaceAll(p.Name, "_", "-")))
	fmt.Fprintf(&b, "files:\n  - %s\ncommands:\n", requirements)
	for _, line := range append(p.shellSetup(requirements, "~/torch-env"), "~/torch-env/bin/python -c 'import torch; print(torch.__version__)'") {
		fmt.Fprintf(&b, "  - %s\n", strconv.Quote(line))
	}
	if p.Match.GPU == "nvidia" {
		least := p.Match.SMs[0] // dstack asks for a capability of at least this
		var names []string
		for _, sm := range p.Match.SMs {
			names = append(names, cloudGPUs[sm]...)
			if floorOf(sm).Less(floorOf(least)) {
				least = sm
			}
		}
		fmt.Fprintf(&b, "resources:\n  gpu:\n    vendor: nvidia\n    compute_capability: %s\n    count: 1\n", strconv.Quote(least))
		if len(names) > 0 {
			fmt.Fprintf(&b, "    name: [%s]\n", strings.Join(names, ", "))
		}
	}
	return b.String(), nil
}

// ExportRay returns a runtime environment for `ray job submit --runtime-env`: uv
// installs the locked packages on each node. The Python is the cluster's own. text is
// the requirements file with its hashes, of which Ray takes the lines and no path.
func (p *Profile) ExportRay(text string) (string, error) {
	if p.Match.OS != "linux" {
		return "", p.notLinux()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s, profile %s.\n# For a cluster whose Python is %s. It was run on no cluster.\nuv:\n  packages:\n", File, p.Name, p.Python)
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "#") {
			fmt.Fprintf(&b, "    - %s\n", strconv.Quote(line))
		}
	}
	fmt.Fprintf(&b, "  uv_version: %q\n  uv_check: false\n"+
		"  uv_pip_install_options: [\"--no-deps\", \"--require-hashes\", \"--only-binary\", \":all:\"]\n", "=="+dockerUV)
	return b.String(), nil
}

// ExportCloudInit returns user data that makes the environment at the first start.
// text is the requirements file with its hashes.
func (p *Profile) ExportCloudInit(text string) (string, error) {
	if p.Match.OS != "linux" {
		return "", p.notLinux()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#cloud-config\n# From %s, profile %s: %s. It was started on no machine.\n", File, p.Name, p.Match.Text())
	b.WriteString("packages: [python3-venv]\nwrite_files:\n  - path: /opt/envfix/requirements.txt\n    permissions: \"0644\"\n    content: |\n")
	for line := range strings.Lines(text) {
		b.WriteString("      " + strings.TrimRight(line, "\n") + "\n")
	}
	env := "/opt/envs/" + p.Name
	b.WriteString("runcmd:\n")
	for _, argv := range [][]string{
		{"python3", "-m", "venv", "/opt/envfix/uv"},
		{"/opt/envfix/uv/bin/python", "-m", "pip", "install", "-q", "uv==" + dockerUV},
		{"/opt/envfix/uv/bin/uv", "venv", "--quiet", "--python", p.Python, env},
		{"/opt/envfix/uv/bin/uv", "pip", "install", "--python", env + "/bin/python", "--no-deps", "--require-hashes", "--only-binary", ":all:",
			"-r", "/opt/envfix/requirements.txt"},
		{env + "/bin/python", "-I", "-c", p.proof()},
	} {
		var words []string
		for _, a := range argv {
			words = append(words, strconv.Quote(a))
		}
		b.WriteString("  - [" + strings.Join(words, ", ") + "]\n")
	}
	return b.String(), nil
}

// ExportDevcontainer returns a devcontainer.json that builds the image of the form
// dockerfile, named Dockerfile beside it, and proves it when it was made.
func (p *Profile) ExportDevcontainer() (string, error) {
	if p.Match.OS != "linux" {
		return "", p.notLinux()
	}
	gpu := ""
	if p.Match.GPU == "nvidia" {
		gpu = "  \"hostRequirements\": { \"gpu\": true },\n  \"runArgs\": [\"--gpus\", \"all\"],\n"
		if n := p.driverMajor(); n > 0 {
			gpu += fmt.Sprintf("  \"containerEnv\": { \"NVIDIA_REQUIRE_CUDA\": \"driver>=%d\" },\n", n)
		}
	}
	return fmt.Sprintf("{\n  \"name\": %q,\n  \"build\": { \"dockerfile\": \"Dockerfile\" },\n%s  \"postCreateCommand\": [\"python\", \"-I\", \"-c\", %q]\n}\n",
		"torch-"+p.Name, gpu, p.proof()), nil
}
