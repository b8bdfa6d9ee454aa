//go:build !linux

package gpu

import (
	"errors"
	"os"
)

// kernelMessages reads a file that stands for /dev/kmsg of a Linux machine.
func kernelMessages(path string, limit int) ([]byte, error) {
	data, err := os.ReadFile(path)
	return data[:min(len(data), limit)], err
}

func kernelBuffer(int) ([]byte, error) { return nil, errors.ErrUnsupported }
