package resolver

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/say"
)

// conda-forge beside the wheels: it is named where it serves what no wheel does, and
// taken where besides the user works with conda.

// condaUser says by what it is seen that the user works with conda, "" he does not.
func (s chooser) condaUser() string {
	if s.p.h.Env["CONDA_PREFIX"] != "" {
		return "a conda environment is active"
	}
	if slices.ContainsFunc(s.p.h.Pythons, func(p machine.Python) bool { return p.Active && p.Source == "conda" }) {
		return "the Python in use is conda's"
	}
	return ""
}

// throughConda is the same question to conda-forge, nil where the request leaves no
// room for it: it names another installer or an index.
func (s chooser) throughConda() *problem {
	if s.p.req.Manager != "" || s.p.req.OnlyIndex != "" || s.p.req.Channel != "" || s.p.req.conflict != "" {
		return nil
	}
	return s.p.with(func(r *Request) { r.Manager = managers.Conda()[0] })
}

// besideConda returns conda-forge's answer where no wheel serves and the user works
// with conda, else o.
func (s chooser) besideConda(o *outcome) *outcome {
	seen := s.condaUser()
	if seen == "" || o.Decision != NoSolution {
		return o
	}
	t := s.throughConda()
	if t == nil {
		return o
	}
	made := t.chooser().decide()
	if made.Decision != Install || made.build == nil || !made.build.Default {
		return o
	}
	why := "no wheel serves what was asked for"
	if o.q != nil {
		why += say.With(" (", append(o.q.why(), Reason{})[0].Text, ")")
	}
	made.Reasons = append([]Reason{{Rule: "source", Text: fmt.Sprintf("%s, and %s: conda-forge does", why, seen)}}, made.Reasons...)
	return made
}

// condaBeside names what conda-forge has for a conda user where a wheel was chosen.
func (s chooser) condaBeside(o *outcome) []string {
	if s.condaUser() == "" || o.Choice == nil || o.Choice.Channel != "pip" || len(s.p.req.packages) > 0 {
		return nil
	}
	t := s.throughConda()
	if t == nil {
		return nil
	}
	c := t.chooser().decide().Choice
	if c == nil || c.Channel != managers.CondaForge || o.Decision == Install && c.Build == cpu {
		return nil
	}
	name := "pytorch " + c.Torch + say.With(" with CUDA ", c.CUDA, "")
	return []string{fmt.Sprintf("conda-forge, since %s: %s (`--manager conda`)", s.condaUser(), name)}
}
