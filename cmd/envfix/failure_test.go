package main

import (
	"context"
	"slices"
	"testing"

	"envfix/internal/apply"
)

// Who is interrupted is told how things stand.
func TestInterruptedSaysHowThingsStand(t *testing.T) {
	err := fromApply(&apply.Error{Kind: apply.Interrupted, Text: "interrupted", Details: []string{".venv is as it was before"}, Err: context.Canceled})
	f := asFailure(err)
	if f.code != exitInterrupted || !slices.Equal(f.details, []string{".venv is as it was before"}) {
		t.Errorf("%+v", f)
	}
	if f := asFailure(context.Canceled); f.code != exitInterrupted || f.text != "interrupted" {
		t.Errorf("%+v", f)
	}
}
