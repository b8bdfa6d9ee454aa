package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// The ways out where a framework does not compute on the GPUs that are here.

// orOnCPU is an answer, or where a framework has no build for the GPUs, what it has for
// the CPU, with the reason said aloud.
func (s chooser) orOnCPU(o *outcome) *outcome {
	if s.p.lead == "" || o.Decision != NoSolution || o.q == nil || s.p.req.accel() == cuda {
		return o
	}
	if c := s.onCPU(o.q.why()[0].Text+onlyCPU+s.inWSL(), ""); c.Choice != nil {
		return c
	}
	return o
}

// frameworkWays are the names under which a framework computes on the GPUs where it does
// not under the one that was asked for, and the system on which it does.
func (s advice) frameworkWays(o *outcome) []string {
	if !s.stuck(o) && o.Decision != UpgradeDriver || s.p.req.conflict != "" || s.p.req.accel() == cpu {
		return nil
	}
	var out []string
	for _, r := range s.p.req.packages {
		if !s.p.isFramework(r.Name) && !s.p.ofUnread(r.Name) {
			continue
		}
		if text := text.Cut(r.Text, 80); !s.p.isRead(r) && r.URL == "" {
			out = append(out, fmt.Sprintf("nobody here has read %s, so what it runs on is not known: `pip install '%[1]s'` takes it, if there is a wheel", text))
		}
		for _, change := range []struct {
			what string
			make func(*pep508.Requirement)
		}{
			{"another extra", func(w *pep508.Requirement) { w.Extras = nil }},
			{"another package", func(w *pep508.Requirement) { w.Name = PlainName(w.Name) }},
			{"another version", func(w *pep508.Requirement) { w.Spec = version.Specifier{} }},
		} {
			if c := s.settledWith(r.Name, change.make); c != nil && (c.CUDA != "" || len(s.p.vendor(machine.NVIDIA)) == 0) {
				for name := range c.Packages {
					if PlainName(name) == PlainName(r.Name) {
						out = append(out, fmt.Sprintf("`%s` instead of `%s`: %s", cmp.Or(c.Ask[name], name), text.Cut(r.Text, 80), change.what))
					}
				}
			}
		}
	}
	for _, r := range s.p.req.packages {
		name := PlainName(r.Name) + "-cpu"
		if real, _ := s.p.m.KnownName(name); real && name != r.Name && s.p.isFramework(r.Name) {
			out = append(out, fmt.Sprintf("`%s` instead of `%s`: it computes on the CPU", name, text.Cut(r.Text, 80)))
		}
	}
	return append(out, strings.TrimPrefix(s.p.chooser().inWSL(), "; "))
}

// inWSL says where a framework computes on the GPU of a Windows machine that it does not
// serve on Windows itself; "" where that helps nothing.
func (s chooser) inWSL() string {
	q := s.p.ask(cuda, s.p.vendor(machine.NVIDIA), driver{}, py{})
	onLinux := func(b *matrix.Build) bool {
		return b.OS == "linux" && b.Arch == s.p.h.Platform.Arch && gpuCodeRule(q, b) == nil
	}
	if s.p.h.Platform.OS != "windows" || len(s.p.vendor(machine.NVIDIA)) == 0 ||
		!slices.ContainsFunc(s.p.cache.frameworks[PlainName(s.p.lead)], onLinux) {
		return ""
	}
	return fmt.Sprintf("; in WSL 2, %s computes on it (`--os wsl2`)", PlainName(s.p.lead))
}

// settledWith is what the request leads to where it asks otherwise for a package; nil
// nothing, or nothing else.
func (s advice) settledWith(name string, change func(*pep508.Requirement)) *Choice {
	same := true
	t := s.p.asking(name, func(r *pep508.Requirement) {
		was, extras := plainText(*r), len(r.Extras)
		change(r)
		r.Text = plainText(*r)
		same = same && was == r.Text && extras == len(r.Extras)
	})
	if t == nil || same {
		return nil
	}
	return t.chooser().decide().Choice
}
