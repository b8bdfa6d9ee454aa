package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"
)

// policyHere is the policy of the team that this directory is of; nil: it has none. A
// stranger's is named and not followed.
func policyHere() (*resolver.Policy, error) {
	p, stranger, err := team.Policy(".")
	if stranger != "" {
		fmt.Fprintf(stderr(), "envfix: warning: %s belongs to another user, and its [policy] is not followed\n", ui.Clean(stranger))
	}
	return p, err
}

// today is the date that a plan reasons with: releases of torch that came after it are
// left out. ENVFIX_TODAY fixes it, so that a plan can be made again later. A clock that
// stands before the day of the data is not believed.
func today() string {
	if os.Getenv("ENVFIX_TODAY") != "" {
		return clockDay()
	}
	return matrix.EmbeddedHead().Day(clockDay())
}

func clockDay() string {
	return cmp.Or(os.Getenv("ENVFIX_TODAY"), time.Now().UTC().Format("2006-01-02"))
}

// matrixFor loads the compatibility data that a command works with: what the
// program was built with, or the newer release that `envfix matrix update` took.
// A release that is damaged or not trusted any more is not used, and said so.
func matrixFor() *matrix.Matrix {
	m := matrix.Embedded()
	newer, err := installedMatrix(m)
	if err != nil {
		fmt.Fprintf(stderr(), "envfix: warning: the updated matrix is not used: %s\n", ui.Clean(err.Error()))
	}
	if newer != nil {
		m = newer
	}
	return m.Until(today())
}
