package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"envfix/internal/fail"
)

// Who is interrupted is told how things stand.
func TestInterruptedSaysHowThingsStand(t *testing.T) {
	err := &fail.Error{Code: fail.Interrupted, Text: "interrupted", Details: []string{".venv is as it was before"}, Err: context.Canceled}
	f := fail.Of(err)
	if f.Code != fail.Interrupted || !slices.Equal(f.Details, []string{".venv is as it was before"}) {
		t.Errorf("%+v", f)
	}
	if f := fail.Of(context.Canceled); f.Code != fail.Interrupted || f.Text != "interrupted" {
		t.Errorf("%+v", f)
	}
}

// However long what a file held is, an error stays one to read.
func TestThreat16LongErrors(t *testing.T) {
	long := strings.Repeat("9", 1_000_000)
	f := fail.Shortened(&fail.Error{Code: 3, Text: "a number: " + long, Details: []string{"short", long}, Hints: []string{"a hint"}})
	if len(f.Text) > 2*fail.Longest || len(f.Details[1]) > 2*fail.Longest || f.Details[0] != "short" || f.Code != 3 || len(f.Hints) != 1 {
		t.Errorf("%d and %d bytes, %+v", len(f.Text), len(f.Details[1]), f.Code)
	}
}
