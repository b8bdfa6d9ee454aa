package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/doctor"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/planning"
	"envfix/internal/probe"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// A staticAnswer is `envfix verify --static --json`.
type staticAnswer struct {
	Format int      `json:"format"`
	OK     bool     `json:"ok"`
	Torch  string   `json:"torch"`
	GPUs   int      `json:"gpus"` // that were proved
	Wrong  []string `json:"wrong"`

	Host  string `json:"host,omitempty"`
	Class any    `json:"class"` // the facts that decide what can run here, as `envfix facts --class` prints them
}

// verifyStatic compares the machine and the environment's files with what it proved,
// and asks the resolver whether the build still runs here. It prints one line.
func verifyStatic(ctx context.Context, m *matrix.Matrix, f verifyFlags, dir string, w io.Writer) error {
	proved := apply.ProvedOf(dir)
	h := thisMachine(ctx, f.Place.Dir, false)
	host, _ := os.Hostname() // where it has none, whoever collects this names it
	a := staticAnswer{Format: 1, Host: host, Class: json.RawMessage(h.ClassLine())}
	switch {
	case proved != nil:
		var dists []machine.DistFiles
		if files := probe.EnvFiles(probeOptions(dir)); files != nil {
			dists = files.Dists
		}
		a.Wrong = apply.Static(proved, f.gpus, h, dists)
		a.Torch, a.GPUs = proved.Torch, proved.GPUs
		if len(a.Wrong) == 0 && proved.GPUs > 0 {
			a.Wrong = append(a.Wrong, refused(m, h, proved)...)
		}
	case h.Has("torch") == nil:
		a.Wrong = append(a.Wrong, "there is no torch in it: `envfix apply` installs it")
	}
	code := fail.Verify
	if proved == nil && len(a.Wrong) == 0 { // what envfix did not make is examined as doctor does
		r, err := judged(ctx, f.Place, dir)
		if err != nil {
			return err
		}
		if r.Verdict == doctor.Unknown {
			code = fail.Unknown
		}
		a.Wrong = doctor.Wrong(r)
		if len(a.Wrong) == 0 { // fewer GPUs than were asked for
			a.Wrong = apply.Static(nil, f.gpus, h, nil)
		}
	}
	a.OK, a.Wrong = len(a.Wrong) == 0, append([]string{}, a.Wrong...)
	text := "ok, torch " + a.Torch + fmt.Sprintf(", %d GPUs", a.GPUs)
	switch {
	case !a.OK:
		text = strings.Join(a.Wrong, "; ")
	case proved == nil:
		text = "nothing is wrong with it, as far as its files, the driver and the GPUs tell; what it proved was not recorded"
	}
	return answer(w, f.json, a, fmt.Sprintf("envfix: %s: %s\n", ui.Clean(f.Place.Dir), ui.Clean(text)), fail.CodeIf(!a.OK, code))
}

// judged is what doctor says of an environment on this machine.
func judged(ctx context.Context, at place.Place, dir string) (doctor.Report, error) {
	var f doctorFlags
	f.plan.machine.env, f.plan.target.place = dir, at
	r, _, err := f.report(ctx)
	return r, err
}

// refused says why the build of an environment no longer runs on this machine; nil
// where it does, or where the data does not know the build.
func refused(m *matrix.Matrix, h machine.Machine, p *apply.Proved) []string {
	public, _, _ := strings.Cut(p.Torch, "+")
	rel, ok := m.Release(public)
	if !ok || p.Build == "" {
		return nil
	}
	if _, ok := rel.Build(p.Build, h.Platform.OS, h.Platform.Arch); !ok {
		return nil
	}
	q, err := pep508.Parse("torch=="+public, "")
	if err != nil {
		return nil
	}
	h.Pythons = nil // the environment has its own, which ran
	b, err := planning.Question{Matrix: m, Machine: h, Request: resolver.Request{Requirements: []pep508.Requirement{q}, Build: p.Build}}.Brief()
	if err != nil || b.Choice != nil {
		return nil
	}
	why := "the rules refuse it here"
	if len(b.Why) > 0 {
		why = b.Why[0].Text
	}
	return []string{fmt.Sprintf("torch %s %s no longer runs here: %s", public, p.Build, why)}
}
