package installers

import (
	"testing"

	"envfix/internal/plan"

	"github.com/google/go-cmp/cmp"
)

// The step keeps what an earlier one took out, and is none where nothing is new.
func TestProfileStep(t *testing.T) {
	fix := func(dir string) plan.EnvFix {
		return plan.EnvFix{Variable: "LD_LIBRARY_PATH", Action: "remove", Value: dir, From: "~/.bashrc:2"}
	}
	p := Profile{Path: "/home/me/.bashrc", Shown: "~/.bashrc", SHA256: "0123456789abcdef", Fixes: []plan.EnvFix{fix("/a"), fix("/b"), fix("/a")}}
	s, ok := ProfileStep(p)
	want := plan.Step{ID: "profile", Title: "keep /a, /b out of LD_LIBRARY_PATH in every new shell: ~/.bashrc",
		Why: "it comes from ~/.bashrc:2; to undo it: `cp -p ~/.bashrc.envfix-0123456789ab ~/.bashrc`",
		Block: &plan.Block{Path: "/home/me/.bashrc", Name: "profile", Lines: []string{activateLine(fix("/a")), activateLine(fix("/b"))},
			Backup: "/home/me/.bashrc.envfix-0123456789ab", Before: "0123456789abcdef"}}
	if diff := cmp.Diff(want, s); diff != "" || !ok {
		t.Errorf("%v %s", ok, diff)
	}
	p.Block, p.Fixes = s.Block.Lines, []plan.EnvFix{fix("/b")}
	if _, ok := ProfileStep(p); ok {
		t.Error("nothing is new")
	}
	p.Fixes = []plan.EnvFix{fix("/c")}
	if s, _ := ProfileStep(p); s.Block == nil || len(s.Block.Lines) != 3 {
		t.Errorf("%+v", s)
	}
	p.Fixes = []plan.EnvFix{fix("/it's")} // what one quote would end
	if _, ok := ProfileStep(p); ok {
		t.Error("an entry with a quote was written")
	}
}
