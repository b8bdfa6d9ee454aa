package main

import (
	"context"
	"slices"
	"testing"

	"envfix/internal/apply"
	"envfix/internal/fail"
)

// Who is interrupted is told how things stand.
func TestInterruptedSaysHowThingsStand(t *testing.T) {
	err := fromApply(&apply.Error{Kind: apply.Interrupted, Text: "interrupted", Details: []string{".venv is as it was before"}, Err: context.Canceled})
	f := asFailure(err)
	if f.Code != fail.Interrupted || !slices.Equal(f.Details, []string{".venv is as it was before"}) {
		t.Errorf("%+v", f)
	}
	if f := asFailure(context.Canceled); f.Code != fail.Interrupted || f.Text != "interrupted" {
		t.Errorf("%+v", f)
	}
}
