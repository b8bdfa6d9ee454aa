package propose

import (
	"context"
	"slices"
	"strings"
	"testing"

	"envfix/resolver"
)

// A package that the matrix chose is held within what uv says that others require of it, in
// one step and not release by release.
func TestOlder(t *testing.T) {
	l := &Loop{Resolve: func(resolver.Request) *resolver.Choice {
		return &resolver.Choice{Packages: map[string]string{"bits": "0.45.5"}}
	}}
	within := "Because moshi==0.2.2 depends on bits{sys_platform == 'linux'}>=0.45,<0.46 and you require bits==0.50.2, we can conclude that they are incompatible. And because"
	for text, want := range map[string]string{within: "bits>=0.45,<0.46", "Because bits==0.50.2 depends on torch<2, we can conclude": "bits<0.50.2"} {
		a := &Answer{}
		if !l.older(a, request(t, "bits"), &resolver.Choice{Packages: map[string]string{"bits": "0.50.2"}}, &refusal{text}) || !slices.Equal(a.Limits, []string{want}) {
			t.Errorf("%q: %q", text, a.Limits)
		}
	}
}

// What is on no index is set aside by name.
func TestNotOnTheIndex(t *testing.T) {
	a := propose(t, asks(t, files{}), request(t, "torch", "local-thing"))
	if !slices.Equal(a.Aside, []string{"local-thing"}) || len(a.Versions) == 0 {
		t.Errorf("%+v", a)
	}
}

// Two demands that contradict each other are told in uv's words, and the answer claims
// nothing.
func TestContradiction(t *testing.T) {
	f := files{}
	f.wheel("a", "1.0", "py3-none-any", "b<2")
	f.wheel("b", "2.0", "py3-none-any")
	f.wheel("b", "1.0", "py3-none-any")
	a := propose(t, asks(t, f), request(t, "torch", "a==1.0", "b==2.0"))
	if len(a.Versions) > 0 || !strings.Contains(a.Refused, "depend on b<2") || len(a.Ways) == 0 || a.Ways[0] != "b 1.0 goes with the rest; you asked for b==2.0 (requirements.txt:1)" {
		t.Errorf("%+v", a)
	}
}

// An interruption ends it and is told apart from an answer.
func TestInterrupted(t *testing.T) {
	l := asks(t, files{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if a, err := l.Propose(ctx, request(t, "torch", "x")); err == nil {
		t.Errorf("%+v", a)
	}
}

// The newest release of what was asked for decides the torch, not an old one that says
// nothing of it.
func TestNewestDecides(t *testing.T) {
	f := files{}
	f.wheel("tool", "3.8.6", "py3-none-any", "torch~=2.8.0")
	f.wheel("tool", "1.0", "py3-none-any")
	a := propose(t, asks(t, f), request(t, "torch", "tool"))
	if !slices.Equal(a.Limits, []string{"torch==2.8.0"}) || a.Versions["tool"] != "3.8.6" {
		t.Errorf("%+v", a)
	}
}
