package installers

import (
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
)

// The channels of conda builds (Choice.Channel).
const (
	condaForge     = "conda-forge"
	pytorchChannel = "pytorch"
)

// conda plans an environment of conda, mamba or micromamba.
func (b *builder) conda() {
	exe := b.t.Manager
	if t, ok := tool(b.h, exe); ok {
		exe = t.Path
	} else if !b.r.Described {
		b.add(plan.Step{ID: "conda", Title: "install " + exe, Why: exe + " is not here",
			Manual: &plan.Manual{Text: "install " + exe + ", or use `--manager uv`, which envfix brings itself"}})
		return
	}
	argv := []string{exe, "create", "--yes", "--prefix", gen, "--override-channels"}
	if b.t.InPlace {
		argv = []string{exe, "install", "--yes", "--prefix", gen, "--override-channels"}
	}
	if b.src.offline {
		argv = append(argv, "--offline")
	}
	for _, c := range b.channels() {
		argv = append(argv, "--channel", c)
	}
	argv = append(argv, "python="+b.choice.Python)
	argv = append(argv, b.condaSpecs()...)
	env := b.src.online(b.t.Manager)
	if b.choice.CUDA != "" && (b.r.Described || b.h.Driver == nil) {
		// Without a driver conda has no __cuda and would take a CPU build.
		env["CONDA_OVERRIDE_CUDA"] = b.choice.CUDA
	}
	b.add(plan.Step{ID: "conda", Title: "make a conda environment with torch " + b.choice.Torch, Why: "from " + strings.Join(b.channels(), " and ") + " alone",
		Run: &plan.Run{Argv: argv, Env: env}})
	b.activate()
	b.prove()
}

// channels are all that the solver may take from. The pytorch channel holds
// neither a Python nor most of what torch needs, so conda-forge stands last.
func (b *builder) channels() []string {
	if b.choice.Channel == pytorchChannel {
		return []string{pytorchChannel, "nvidia", condaForge}
	}
	return []string{condaForge}
}

// condaSpecs names the packages. conda-forge chooses a build by its build string
// (cuda129_…, cpu_…), the pytorch channel by the metapackage pytorch-cuda, in
// 1.12 by cudatoolkit.
func (b *builder) condaSpecs() []string {
	c := b.choice
	var specs []string
	switch {
	case c.Channel == pytorchChannel && c.CUDA != "" && strings.HasPrefix(c.Torch, "1.12."):
		specs = []string{"pytorch==" + c.Torch, "cudatoolkit=" + c.CUDA} // pytorch-cuda begins with 1.13
	case c.Channel == pytorchChannel && c.CUDA != "":
		specs = []string{"pytorch==" + c.Torch, "pytorch-cuda=" + c.CUDA}
	case c.Channel == pytorchChannel:
		specs = []string{"pytorch==" + c.Torch, "cpuonly"}
	case c.CUDA != "":
		specs = []string{"pytorch=" + c.Torch + "=cuda" + strings.ReplaceAll(c.CUDA, ".", "") + "*", "cuda-version=" + c.CUDA}
	default:
		specs = []string{"pytorch=" + c.Torch + "=cpu*"}
	}
	if c.Channel == pytorchChannel {
		// MKL 2024.1 took iJIT_NotifyEvent away, which its libtorch_cpu asks for
		// (pytorch/pytorch#123097).
		specs = append(specs, "mkl<2024.1")
	}
	if c.Channel == condaForge && c.CUDA != "" && b.beforeTuring() {
		// conda's cuDNN is a package of its own, and 9.11 ends everything before
		// Turing; the feedstock pins it in its own tests alone.
		specs = append(specs, "cudnn<9.11")
	}
	asked := map[string][]string{}
	for _, q := range b.r.Requirements { // several may speak of one package
		asked[q.Name] = append(asked[q.Name], q.Name+condaVersion(q.Spec.String()))
	}
	for _, n := range slices.Sorted(maps.Keys(c.Packages)) {
		public, _ := version.SplitLocal(c.Packages[n])
		switch {
		case n == "torch":
		case public != "":
			specs = append(specs, n+"="+public)
		case len(asked[n]) > 0:
			specs = append(specs, asked[n]...)
		default:
			specs = append(specs, n)
		}
	}
	return specs
}

// condaVersion is a limit of pip in conda's words, whose == knows no star: ==1.26.* is
// =1.26.
func condaVersion(spec string) string {
	spec = strings.ReplaceAll(spec, " ", "")
	if v, ok := strings.CutPrefix(spec, "=="); ok && !strings.Contains(v, ",") {
		if v, star := strings.CutSuffix(v, ".*"); star {
			return "=" + v
		}
	}
	var out []string
	for clause := range strings.SplitSeq(spec, ",") {
		if v, ok := strings.CutPrefix(clause, "=="); ok && strings.HasSuffix(v, ".*") {
			clause = v // a bare 1.26.* is conda's own way beside others
		}
		out = append(out, clause)
	}
	return strings.Join(out, ",")
}

// beforeTuring reports an NVIDIA GPU older than compute capability 7.5.
func (b *builder) beforeTuring() bool {
	for _, g := range b.h.GPUs {
		if g.Vendor == machine.NVIDIA && !g.SM.IsZero() && g.SM.Less(machine.SM{Major: 7, Minor: 5}) {
			return true
		}
	}
	return false
}
