package installers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/resolver"
)

// conda makes an environment of conda's with one of the programs that do.
type conda struct{ managers.Manager }

func (c conda) leavesAll(_ *builder, n int) string {
	return fmt.Sprintf("%s makes a conda environment, into which the %d packages of a virtual one are not carried", c.Name, n)
}

func (c conda) child() child {
	own := child{caches: []string{"CONDA_PKGS_DIRS"}, certificates: requestsBundle}
	if c.Program == "conda" {
		own.patience = map[string]string{"CONDA_REMOTE_READ_TIMEOUT_SECS": timeout, "CONDA_REMOTE_MAX_RETRIES": retries}
	} else { // libmamba's configuration.cpp; it ends a download by its speed, not by a timeout
		own.patience = map[string]string{"MAMBA_REMOTE_MAX_RETRIES": retries}
	}
	return own
}

func (c conda) steps(b *builder) error {
	exe := c.Program
	if t, ok := tool(b.h, exe); ok {
		exe = t.Path
	} else if !b.r.Described {
		b.add(byHand("conda", "install "+exe, exe+" is not here", "install "+exe+", or use `--manager uv`, which envfix brings itself"))
		b.warn("%s is not here, and envfix does not bring it: nothing is installed before it is", exe)
		return nil
	}
	argv := []string{exe, "create", "--yes", "--prefix", gen, "--override-channels"}
	if b.t.InPlace && b.inEnvironment("conda") {
		argv = []string{exe, "install", "--yes", "--prefix", gen, "--override-channels"}
	}
	if b.src.offline {
		argv = append(argv, "--offline")
	}
	for _, channel := range b.channels() {
		argv = append(argv, "--channel", channel)
	}
	argv = append(argv, "python="+b.choice.Python)
	if len(b.t.Below)+len(b.t.Places)+len(inPlace(b.t)) > 0 || b.t.WithPip {
		argv = append(argv, "pip")
	}
	argv = append(argv, b.condaSpecs()...)
	env := b.src.online(c)
	if b.choice.CUDA != "" && (b.r.Described || b.h.Driver == nil) {
		// Without a driver conda has no __cuda and would take a CPU build.
		env["CONDA_OVERRIDE_CUDA"] = b.choice.CUDA
	}
	b.add(plan.Step{ID: "conda", Title: "make a conda environment with torch " + b.choice.Torch, Why: "from " + strings.Join(b.channels(), " and ") + " alone",
		Run: &plan.Run{Argv: argv, Env: env}})
	below(b)
	b.activate()
	b.prove()
	return nil
}

// below adds what pip installs into the environment that conda made, with torch held.
func below(b *builder) {
	b.tool = pip{}
	held := []string{"torch==" + b.choice.Torch}
	if len(b.t.Below) > 0 {
		b.install("", plan.Step{ID: "packages", Title: "install " + strings.Join(b.t.Below, ", "),
			Why: "by pip, what the project asks of it after conda, with torch held"},
			nil, slices.Concat(held, b.t.Below))
	}
	b.places("", held)
	itself(b, "")
}

// channels are all that the solver may take from. The pytorch channel holds
// neither a Python nor most of what torch needs, so conda-forge stands last.
func (b *builder) channels() []string {
	if b.choice.Channel == managers.CondaPyTorch {
		return []string{managers.CondaPyTorch, "nvidia", managers.CondaForge}
	}
	return []string{managers.CondaForge}
}

// condaTorch names torch. conda-forge chooses a build by its build string (cuda129_…,
// cpu_…), the pytorch channel by the metapackage pytorch-cuda, in 1.12 by cudatoolkit.
// MKL 2024.1 took iJIT_NotifyEvent away, which that channel's libtorch_cpu asks for
// (pytorch/pytorch#123097).
func condaTorch(c *resolver.Choice) []string {
	exact, series := "pytorch=="+c.Torch, "pytorch="+c.Torch
	switch older := c.Channel == managers.CondaPyTorch; {
	case older && c.CUDA != "" && strings.HasPrefix(c.Torch, "1.12."):
		return []string{exact, "cudatoolkit=" + c.CUDA, "mkl<2024.1"}
	case older && c.CUDA != "":
		return []string{exact, "pytorch-cuda=" + c.CUDA, "mkl<2024.1"}
	case older:
		return []string{exact, "cpuonly", "mkl<2024.1"}
	case c.CUDA != "":
		return []string{series + "=cuda" + strings.ReplaceAll(c.CUDA, ".", "") + "*", "cuda-version=" + c.CUDA}
	}
	return []string{series + "=cpu*"}
}

// condaSpecs names the packages.
func (b *builder) condaSpecs() []string {
	c := b.choice
	specs := condaTorch(c)
	if c.Channel == managers.CondaForge && c.CUDA != "" && beforeTuring(b.h) {
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
func beforeTuring(h machine.Machine) bool {
	return slices.ContainsFunc(h.GPUs, func(g machine.GPU) bool {
		return g.Vendor == machine.NVIDIA && !g.SM.IsZero() && g.SM.Less(machine.SM{Major: 7, Minor: 5})
	})
}
