//go:build !linux || !cgo

package probe

import (
	"errors"
	"io"
	"time"
)

// ServeSamples exists for the builds that cannot load NVIDIA's library.
func ServeSamples(io.Reader, io.Writer, time.Duration, []string) error {
	return errors.New("this build cannot load NVIDIA's library")
}
