package main

import (
	"testing"
	"time"

	"envfix/matrix"
)

// Without ENVFIX_TODAY the clock counts: a release that is dated later is not there yet.
func TestTodayWithoutVariable(t *testing.T) {
	head := matrix.EmbeddedHead()
	t.Setenv("ENVFIX_TODAY", "")
	if got := today(); got < head.Date || got > time.Now().UTC().Format("2006-01-02") && got != head.Date {
		t.Errorf("today is %s, and the data of %s", got, head.Date)
	}
	t.Setenv("ENVFIX_TODAY", "2025-01-31")
	if m := matrixFor(); m.Releases[0].Date > today() {
		t.Errorf("on %s torch %s is there", today(), m.Releases[0].Torch)
	}
}
