//go:build !linux || (!cgo && !nvmlchild)

package gpu

import "errors"

// HasNVML says whether this build can load NVIDIA's library.
func HasNVML() bool { return false }

func childProgram(string) (child, error) {
	return child{}, errors.New("this build cannot load NVIDIA's library")
}
