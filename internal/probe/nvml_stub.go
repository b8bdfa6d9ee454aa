//go:build !linux || !cgo

package probe

import (
	"errors"
	"io"
)

// HasNVML says whether this build can load NVIDIA's library.
const HasNVML = false

// ServeNVML exists for the builds that cannot load NVIDIA's library; they read
// the kernel's files, the bus and nvidia-smi instead, and never call it.
func ServeNVML(io.Writer, []string) error {
	return errors.New("this build cannot load NVIDIA's library")
}
