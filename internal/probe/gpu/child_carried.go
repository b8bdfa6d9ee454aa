//go:build linux && !cgo && nvmlchild

package gpu

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"envfix/internal/nvmlchild/carried"

	"golang.org/x/sys/unix"
)

// loaders are glibc's, by architecture: the carried program names the one that
// starts it, and NVIDIA's library needs the same glibc.
var loaders = map[string]string{"amd64": "/lib64/ld-linux-x86-64.so.2", "arm64": "/lib/ld-linux-aarch64.so.1"}

// HasNVML says whether this build can load NVIDIA's library here.
func HasNVML() bool {
	_, err := os.Stat(loaders[runtime.GOARCH])
	return err == nil
}

// childProgram is the carried program in a file of memory: nothing is written to a
// disk, nobody can exchange it, and it goes away by itself.
func childProgram(string) (child, error) {
	if !HasNVML() {
		return child{}, errors.New("there is no glibc here, which NVIDIA's library needs")
	}
	fd, err := unix.MemfdCreate("envfix-nvml", unix.MFD_CLOEXEC|unix.MFD_EXEC) // Linux 6.3 wants to be told (vm.memfd_noexec)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate("envfix-nvml", unix.MFD_CLOEXEC) // older kernels do not know that
	}
	if err != nil {
		return child{}, fmt.Errorf("the program that loads NVIDIA's library has no place in memory (%w)", err)
	}
	f := os.NewFile(uintptr(fd), "envfix-nvml")
	if _, err := f.WriteString(carried.Program); err != nil {
		f.Close()
		return child{}, err
	}
	return child{"/proc/self/fd/" + strconv.Itoa(fd), func() { f.Close() }}, nil
}
