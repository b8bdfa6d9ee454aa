//go:build !linux || !cgo

package nvmlchild

import (
	"errors"
	"io"
	"time"
)

var errNoCgo = errors.New("this build cannot load NVIDIA's library")

// ServeNVML exists for the builds that cannot load NVIDIA's library themselves.
func ServeNVML(io.Writer, []string) error { return errNoCgo }

// ServeSamples exists for the builds that cannot load NVIDIA's library themselves.
func ServeSamples(io.Reader, io.Writer, time.Duration, []string) error { return errNoCgo }
