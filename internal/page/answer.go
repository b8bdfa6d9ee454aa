package page

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// An Answer is what the page shows of a question.
type Answer struct {
	Error *Fault `json:"error,omitempty"` // a word was not understood; nothing else is set then

	Words   Words    `json:"words"`   // as they were understood
	Machine []string `json:"machine"` // what was described, a line each
	Assumed []string `json:"assumed"`

	Title string      `json:"title"` // in a few words
	Text  string      `json:"text"`  // in a sentence
	One   string      `json:"one"`   // the one reason
	OK    bool        `json:"ok"`    // it runs as the machine is
	Parts [][2]string `json:"parts"` // of the combination: its name and version
	Do    []Command   `json:"do"`    // to copy
	Ask   string      `json:"ask"`   // the same question on the command line
	Ways  []Way       `json:"ways"`  // the nearest other answers

	Decided Decided `json:"decided"`
}

// Decided are the fields of `envfix plan --json` that say what was decided, by the
// same names: a test holds them against the program.
type Decided struct {
	Decision resolver.Decision `json:"decision"`
	Choice   *resolver.Choice  `json:"choice"` // in a plan these fields stand at its top
	Driver   plan.Driver       `json:"driver"`
	resolver.Told
}

// Ask answers a question. What is wrong with the words stands in its Error.
func Ask(m *matrix.Matrix, w Words) Answer {
	q, err := read(m, w)
	if err != nil {
		return Answer{Error: faultOf(err), Words: q.words}
	}
	res, err := q.of(m).Choose()
	if err != nil {
		return Answer{Error: faultOf(err), Words: q.words}
	}
	p, do, err := commands(m, q, res)
	if err != nil {
		return Answer{Error: faultOf(err), Words: q.words}
	}
	a := Answer{Words: q.words, Machine: machineLines(q.machine), Assumed: q.assumed, Do: do, Ask: commandLine("envfix plan", q.words.Args(true)),
		Decided: Decided{Decision: res.Decision, Choice: res.Choice, Driver: p.Driver, Told: res.Told}}
	a.Decided.Warnings = p.Warnings
	a.OK = res.Choice != nil && slices.Contains(
		[]resolver.Decision{resolver.Install, resolver.InstallCPU, resolver.Partial, resolver.UseVendorIndex}, res.Decision)
	a.Title, a.Text = title(res), sentences[res.Decision]
	if c := settled(res); c != nil {
		a.Parts = parts(c, res)
		if w.Python == "" && res.Decision != resolver.Split {
			a.Assumed = append(a.Assumed, "Python "+c.Python)
		}
	}
	a.One = one(res)
	a.Ways = ways(q, res)
	return a
}

// sentences say what was decided.
var sentences = map[resolver.Decision]string{
	resolver.Install:         "This machine runs it as it is.",
	resolver.InstallCPU:      "It computes on the processor: no GPU is used.",
	resolver.UpgradeDriver:   "The driver is too old for it. Update the driver first, or take what runs today.",
	resolver.PinDriverBranch: "The driver no longer drives this GPU. An older branch does; take it first.",
	resolver.FixDriver:       "The driver has to be put right first.",
	resolver.Partial:         "One build serves some of the GPUs; the others are left out.",
	resolver.Split:           "Every GPU can be served, but not by one environment.",
	resolver.UseVendorIndex:  "Only the vendor's own index serves this machine.",
	resolver.NeedTarget:      "This is not the machine that will run it: name that one.",
	resolver.NoSolution:      "No PyTorch build runs on this machine.",
}

// settled is what an answer leads to; nil: nothing.
func settled(res *resolver.Resolution) *resolver.Choice {
	return cmp.Or(res.Choice, res.Then)
}

func title(res *resolver.Resolution) string {
	c := settled(res)
	switch {
	case res.Decision == resolver.Split:
		made := xslices.Filter(res.Environments, func(e resolver.Environment) bool { return e.Choice != nil })
		return strings.Join(text.Each(made, func(e resolver.Environment) string { return "torch " + e.Choice.Torch }), " and ")
	case c == nil:
		return "Nothing fits"
	case c.Torch == "" && res.Decision == resolver.UseVendorIndex:
		return "torch from the vendor"
	case c.Torch == "":
		return strings.Join(slices.Sorted(maps.Keys(c.Packages)), ", ")
	}
	return "torch " + c.Torch
}

// parts are the versions of a combination, in the order in which people ask.
func parts(c *resolver.Choice, res *resolver.Resolution) (out [][2]string) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("build", c.Build)
	add("CUDA", c.CUDA)
	add("cuDNN", c.CuDNN)
	add("Python", c.Python)
	for _, name := range slices.Sorted(maps.Keys(c.Packages)) {
		if v, _, _ := strings.Cut(c.Packages[name], "+"); name != "torch" {
			add(name, cmp.Or(v, "the newest that fits"))
		}
	}
	switch {
	case c.Channel != "" && c.Channel != "pip":
		add("from", c.Channel)
	case c.Index == nil:
		add("from", "the installer's default index")
	default:
		add("from", *c.Index)
	}
	if d := res.Driver; !d.Minimum.IsZero() {
		add("driver", "at least "+d.Minimum.String())
	}
	return out
}

// one is the one reason: for an installation that the build has code for the GPU and
// the driver is new enough, else what stands in the way.
func one(res *resolver.Resolution) string {
	said := func(rule string) string {
		i := slices.IndexFunc(res.Reasons, func(r resolver.Reason) bool { return r.Rule == rule })
		if i < 0 {
			return ""
		}
		s, _, _ := strings.Cut(res.Reasons[i].Text, " (sm_") // the list of all code is among the rules
		return s
	}
	code, driver := said("gpu-code"), said("driver-floor")
	switch {
	case res.Choice != nil && strings.HasPrefix(code, "has ") && driver != "":
		return "It " + code + ", and " + driver + "."
	case res.Choice != nil && strings.HasPrefix(code, "has "):
		return "It " + code + "."
	case res.Choice != nil && code != "":
		return upper(code) + "."
	case len(res.Reasons) > 0:
		return upper(res.Reasons[0].Text) + "."
	}
	return ""
}

func upper(s string) string {
	if s == "" || strings.HasPrefix(s, "torch") || strings.HasPrefix(s, "`") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func machineLines(h machine.Machine) []string {
	var out []string
	for _, g := range h.GPUs {
		s := strings.TrimPrefix(g.Name, "NVIDIA ")
		switch {
		case !g.SM.IsZero() && !strings.HasSuffix(s, g.SM.String()):
			s += ", compute capability " + g.SM.String()
		case g.GFX != "" && !strings.HasSuffix(s, g.GFX):
			s += ", " + g.GFX
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		out = append(out, "no GPU")
	}
	p := h.Platform
	return say.All(append(out, say.With("driver ", h.DriverVersion(), ""),
		p.OS+" "+p.Arch+say.If(p.Environment != "" && p.Environment != machine.Bare, " ("+p.Environment+")"))...)
}

// commandLine is a command as a shell takes it.
func commandLine(program string, args []string) string {
	return program + " " + text.Command(args...)
}

// commands plans the installation for a machine with the tool at hand, and writes
// its steps as commands to copy.
func commands(m *matrix.Matrix, q question, res *resolver.Resolution) (*plan.Plan, []Command, error) {
	h := q.machine
	asked := q.of(m)
	c := res.Installed(asked.Request.ChangeDriver)
	by, _ := managers.Find(q.words.Manager)
	if c != nil && by.NeedsPython {
		h.Pythons = []machine.Python{{Version: strings.TrimSuffix(c.Python, "t"), FreeThreaded: strings.HasSuffix(c.Python, "t"), Path: pythonProgram(h, c.Python)}}
	}
	asked.Machine, asked.Target = h, plan.Target{Dir: ".venv", Manager: q.words.Manager, InPlace: !by.MakesConda()}
	p, err := asked.Steps(res)
	if err != nil {
		return nil, nil, err
	}
	return p, toCopy(p, q, res), nil
}
