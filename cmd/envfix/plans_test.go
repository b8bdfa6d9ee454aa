package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"envfix/installers"
	"envfix/internal/apply"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"

	"mvdan.cc/sh/v3/syntax"
)

// TestPlansHold makes every plan for every recorded machine, and holds each to
// what must be true of any: it survives its file, apply accepts it, its script is
// a script, its text fits the screen, and no call of an installer names two
// indexes.
func TestPlansHold(t *testing.T) {
	m := matrix.Embedded()
	files, err := filepath.Glob("testdata/machines/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d machines: %v", len(files), err)
	}
	texts := []string{"", "torch torchvision transformers>=4", "torch==2.9.1+cu126 vllm"}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := machine.Read(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, manager := range append([]string{""}, managers.Names()...) {
			for i, text := range texts {
				if manager != "" && i == 2 {
					continue // the wish matters to the resolver, not to the installer
				}
				r := resolver.Request{Manager: manager, Described: true, ChangeDriver: i == 1, Today: "2026-11-21"}
				for _, q := range strings.Fields(text) {
					one, err := pep508.Parse(q, "")
					if err != nil {
						t.Fatal(err)
					}
					r.Requirements = append(r.Requirements, one)
				}
				res, err := resolver.Resolve(m, h, r)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				target := plan.Target{Dir: ".venv", Manager: manager, Offline: i == 1}
				if row, _ := managers.Find(manager); row.Project() && row.Channels == nil { // it works on a project, and makes none
					target.Project = []byte("[project]\nname = \"x\"\nversion = \"1\"\n")
				}
				p, err := installers.Plan(m, h, r, res, target)
				if err == nil {
					err = plan.Seal(p)
				}
				name := strings.Join([]string{filepath.Base(file), manager, text}, " / ")
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				holds(t, name, p)
			}
		}
	}
}

func holds(t *testing.T, name string, p *plan.Plan) {
	t.Helper()
	b, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := plan.Decode(b); err != nil || again.ID != p.ID {
		t.Errorf("%s: its own file is refused: %v", name, err)
	}
	if err := apply.Check(p); err != nil {
		t.Errorf("%s: apply refuses it: %v", name, err)
	}
	if err := apply.CheckUser(p, "/home/me", func(string) bool { return true }); err != nil {
		t.Errorf("%s: from a file it is refused: %v", name, err)
	}
	for _, s := range p.Steps {
		if !s.Root {
			continue
		}
		if s.Run != nil { // the directory of envfix's tools, as apply fills it in
			run := *s.Run
			run.Argv = slices.Clone(run.Argv)
			for i, a := range run.Argv {
				run.Argv[i] = strings.ReplaceAll(a, "{tools}", "/home/me/tools")
			}
			s.Run = &run
		}
		if err := apply.CheckRoot(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	form := plan.Script(p)
	text, err := form.String(), form.Err()
	if err != nil {
		t.Errorf("%s: no script: %v", name, err)
	} else if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "plan.sh"); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	refused := p.Decision == resolver.NoSolution || p.Decision == resolver.NeedTarget
	if refused != (refusal(p) != nil) || refused && len(p.Steps) > 0 {
		t.Errorf("%s: %s with %d steps", name, p.Decision, len(p.Steps))
	}
	for _, s := range p.Steps {
		if s.Run == nil {
			continue
		}
		argv := strings.Join(s.Run.Argv, "\n")
		if strings.Contains(argv, "extra-index") || strings.Count(argv, "-index") > 1 {
			t.Errorf("%s: %s names more than one index: %q", name, s.ID, s.Run.Argv)
		}
	}
	for line := range strings.Lines(ui.Plan(p, ui.Style{}) + ui.Home(ui.Dashboard{Plan: p}, ui.Style{})) {
		line = strings.TrimSuffix(line, "\n")
		if n := len([]rune(line)); n > ui.Width && strings.Contains(strings.TrimSpace(line), " ") && !strings.HasSuffix(line, `\`) {
			t.Errorf("%s: a line of %d columns: %s", name, n, line)
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("%s: a control character: %q", name, line)
		}
	}
}
