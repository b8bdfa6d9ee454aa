package ui

import (
	"slices"
	"testing"

	"envfix/internal/plan"
	"envfix/resolver"
)

// A refusal says first what stops, and of many notes how many more there are.
func TestRefusalOfManyNotes(t *testing.T) {
	p := &plan.Plan{Decision: resolver.NoSolution}
	p.Warnings = []string{"one", "two", "nothing is proven", "three", "four", "x is set aside: y"}
	_, details, _ := Refusal(p)
	want := []string{"x is set aside: y", "one", "two", "3 more (`envfix plan --json` has them)"}
	if !slices.Equal(details, want) {
		t.Errorf("details %q, want %q", details, want)
	}
}
