package gpu

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelMessages reads /dev/kmsg, which gives one record a read and then waits for
// the next, or a file that stands for it.
func kernelMessages(path string, limit int) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var out []byte
	buf := make([]byte, 16<<10) // a record is at most 8 KiB, or the read is refused
	for len(out) < limit {
		n, err := syscall.Read(fd, buf)
		switch {
		case err == syscall.EINTR, err == syscall.EPIPE: // a record was overwritten: go on with the next
			continue
		case err == syscall.EAGAIN: // no more, for now
			return out, nil
		case err != nil:
			return nil, err
		case n == 0:
			return out, nil
		}
		out = append(out, buf[:n]...)
	}
	return out, nil
}

// kernelBuffer asks the kernel for its whole buffer, where /dev/kmsg is not there
// or not open to us. It changes nothing: "read all" leaves the buffer as it is.
func kernelBuffer(limit int) ([]byte, error) {
	size, err := unix.Klogctl(unix.SYSLOG_ACTION_SIZE_BUFFER, nil)
	if err != nil {
		return nil, os.NewSyscallError("syslog", err)
	}
	buf := make([]byte, min(size, limit))
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, buf)
	if err != nil {
		return nil, os.NewSyscallError("syslog", err)
	}
	return buf[:n], nil
}
