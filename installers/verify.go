package installers

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/resolver"
)

//go:embed verify.py
var verifyScript string

// verify is what the finished environment must prove on h.
func verify(h machine.Machine, res *resolver.Resolution, c *resolver.Choice) *plan.Verify {
	v := &plan.Verify{Torch: c.Torch, Build: c.Build, CUDA: c.CUDA, CuDNN: c.CuDNN, Arches: c.Arches, GPUs: toCompute(h, res, c)}
	for _, n := range family {
		if _, ok := c.Packages[n]; ok {
			v.Imports = append(v.Imports, n)
		}
	}
	if len(v.Imports) == 0 {
		v.Imports = []string{"torch"}
	}
	if len(res.VisibleGPUs) > 0 {
		v.CUDAVisible = res.CUDAVisible
	}
	return v
}

// toCompute is the number of GPUs that the build must compute on.
func toCompute(h machine.Machine, res *resolver.Resolution, c *resolver.Choice) int {
	if c.Build == "cpu" {
		return 0
	}
	if len(res.VisibleGPUs) > 0 {
		return len(res.VisibleGPUs)
	}
	n := 0
	for _, g := range h.GPUs {
		if g.Visible && g.Vendor == vendorOf(c.Build) {
			n++
		}
	}
	return n
}

func vendorOf(build string) string {
	switch {
	case strings.HasPrefix(build, "rocm"):
		return machine.AMD
	case build == "xpu":
		return machine.Intel
	case build == "mps":
		return machine.Apple
	}
	return machine.NVIDIA
}

func proofWords(h machine.Machine) string {
	if len(h.GPUs) == 0 {
		return "imports and what the build was made for; no GPU is here to compute on"
	}
	return "imports, what the build was made for, and a product on every GPU compared with the CPU's"
}

// VerifyArgv is the command that prints what the environment of python can do,
// for [Judge].
func VerifyArgv(python string, v plan.Verify, quick bool) []string {
	arg, err := json.Marshal(map[string]any{"imports": v.Imports, "quick": quick})
	if err != nil {
		panic(err) // strings and a bool always encode
	}
	return []string{python, "-I", "-c", verifyScript, string(arg)}
}

// A Proof is what an environment showed.
type Proof struct {
	Proven   []string // what was shown
	NotRun   []string // what was not, and why
	Failures []string // what is wrong; empty: verified
}

// observed is what verify.py prints.
type observed struct {
	Torch     string            `json:"torch"`
	CUDA      string            `json:"cuda"`
	HIP       string            `json:"hip"`
	CuDNN     int               `json:"cudnn"`
	Arches    string            `json:"arches"`
	Available bool              `json:"available"`
	Imports   map[string]string `json:"imports"`
	Errors    map[string]string `json:"errors"`
	GPUs      []observedGPU     `json:"gpus"`
}

type observedGPU struct {
	Device     string `json:"device"`
	Name       string `json:"name"`
	Capability string `json:"capability"`
	OK         bool   `json:"ok"`
	Error      string `json:"error"`
}

// Judge compares the output of [VerifyArgv]'s command with what v demands. Its
// error reports output that is not an answer at all.
func Judge(v plan.Verify, out []byte) (Proof, error) {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var o observed
	if err := json.Unmarshal(lines[len(lines)-1], &o); err != nil {
		return Proof{}, fmt.Errorf("the environment's Python gave no answer: %w", err)
	}
	var p Proof
	for _, name := range v.Imports {
		if e, bad := o.Errors[name]; bad {
			p.Failures = append(p.Failures, fmt.Sprintf("import %s: %s", name, e))
		} else {
			p.Proven = append(p.Proven, strings.TrimSpace("import "+name+" "+o.Imports[name]))
		}
	}
	if o.Torch == "" {
		if len(p.Failures) == 0 {
			p.Failures = append(p.Failures, "torch was not imported")
		}
		return p, nil
	}
	p.identity(v, o)
	p.compute(v, o)
	return p, nil
}

// identity compares what torch says of itself with the matrix row.
func (p *Proof) identity(v plan.Verify, o observed) {
	public, label := version.SplitLocal(o.Torch)
	if v.Torch != "" && public != v.Torch {
		p.Failures = append(p.Failures, fmt.Sprintf("torch is %s, planned was %s", o.Torch, v.Torch))
	}
	if v.Build != "" && label != "" && label != v.Build {
		p.Failures = append(p.Failures, fmt.Sprintf("torch's build is %s, planned was %s", label, v.Build))
	}
	if v.CUDA != o.CUDA && (v.CUDA != "" || v.Build == "cpu") {
		p.Failures = append(p.Failures, fmt.Sprintf("torch.version.cuda is %s, planned was %s", orNone(o.CUDA), orNone(v.CUDA)))
	} else if v.CUDA != "" {
		p.Proven = append(p.Proven, "CUDA "+o.CUDA)
	}
	if want := cudnnNumber(v.CuDNN); want != 0 {
		switch e, failed := o.Errors["cudnn"]; {
		case failed:
			p.Failures = append(p.Failures, "cuDNN does not load: "+e)
		case o.CuDNN != want:
			p.Failures = append(p.Failures, fmt.Sprintf("cuDNN is %s, the build was made with %s: another one is loaded first", cudnnText(o.CuDNN), v.CuDNN))
		default:
			p.Proven = append(p.Proven, "cuDNN "+cudnnText(o.CuDNN))
		}
	}
	if len(v.Arches) > 0 {
		if missing := lacking(strings.Fields(o.Arches), v.Arches); len(missing) > 0 {
			p.Failures = append(p.Failures, fmt.Sprintf("torch has no code for %s; it has %s", strings.Join(missing, " "), orNone(o.Arches)))
		} else {
			p.Proven = append(p.Proven, "code for "+o.Arches)
		}
	}
}

// compute judges the GPUs.
func (p *Proof) compute(v plan.Verify, o observed) {
	for _, g := range o.GPUs {
		name := fmt.Sprintf("%s (%s)", g.Device, g.Name)
		if g.OK {
			p.Proven = append(p.Proven, name+" computes what the CPU does")
		} else {
			p.Failures = append(p.Failures, name+": "+g.Error)
		}
	}
	if e, bad := o.Errors["devices"]; bad {
		p.Failures = append(p.Failures, "looking for GPUs: "+e)
	}
	switch {
	case len(o.GPUs) < v.GPUs:
		p.Failures = append(p.Failures, fmt.Sprintf("torch sees %d of %d GPUs", len(o.GPUs), v.GPUs))
	case len(o.GPUs) == 0 && v.Build == "cpu":
		p.NotRun = append(p.NotRun, "nothing was computed on a GPU: this is a CPU build")
	case len(o.GPUs) == 0:
		p.NotRun = append(p.NotRun, "nothing was computed on a GPU: none is here")
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// lacking returns the entries of want that have does not hold.
func lacking(have, want []string) []string {
	var out []string
	for _, w := range want {
		if !slices.Contains(have, w) {
			out = append(out, w)
		}
	}
	return out
}

// cudnnNumber is a cuDNN version as torch.backends.cudnn.version() writes it:
// 9.10.2 is 91002, and before version 9, 8.9.7 is 8907 (cudnn_version.h).
func cudnnNumber(s string) int {
	v, err := version.ParseDotted(s)
	if err != nil {
		return 0
	}
	if v.Major() >= 9 {
		return v.Major()*10000 + v.Group(1)*100 + v.Group(2)
	}
	return v.Major()*1000 + v.Group(1)*100 + v.Group(2)
}

func cudnnText(n int) string {
	switch {
	case n == 0:
		return "none"
	case n >= 90000:
		return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100)
	}
	return fmt.Sprintf("%d.%d.%d", n/1000, n/100%10, n%100)
}
