//go:build unix

package probe

import (
	"bytes"
	"io"
	"syscall"
)

// The standard library's files register with its poller, which costs six system
// calls per file and never helps with regular ones. A probe reads hundreds of
// small files and directories, so it asks the kernel itself: half the time.

// readFile returns the first part of a regular file, at most limit bytes; nil
// where there is none. O_NONBLOCK: a FIFO in its place must not stall us.
func readFile(path string, limit int64) []byte {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil
	}
	// Files of /proc say that they are empty: read until the end shows.
	data := make([]byte, 0, min(limit, max(st.Size+1, 1024)))
	for int64(len(data)) < limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := syscall.Read(fd, data[len(data):min(int64(cap(data)), limit)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil
		}
		if n == 0 {
			break
		}
		if data = data[:len(data)+n]; int64(len(data)) == st.Size {
			break
		}
	}
	return data
}

// lastPart is looked at first by search: glibc's banner stands behind its code, in the
// last 250 KB of 1.9 MB.
const lastPart = 384 << 10

// search looks for a mark in a file of megabytes, piece by piece, and returns the
// mark and the 400 bytes behind it; nil where it is not found.
func search(path string, mark []byte) []byte {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	if _, err := syscall.Seek(fd, -lastPart, io.SeekEnd); err == nil {
		if found := searchOn(fd, mark); found != nil {
			return found
		}
		if _, err := syscall.Seek(fd, 0, io.SeekStart); err != nil {
			return nil
		}
	}
	return searchOn(fd, mark)
}

// searchOn is search from where a file stands.
func searchOn(fd int, mark []byte) []byte {
	const keep = 512 // carried from one piece to the next
	buf := make([]byte, keep+64<<10)
	have := 0
	for read := 0; read < maxFile; {
		n, err := syscall.Read(fd, buf[have:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n < 0 {
			return nil
		}
		have, read = have+n, read+n
		i := bytes.Index(buf[:have], mark)
		if i >= 0 && (have-i >= 400+len(mark) || n == 0) {
			return buf[i:min(have, i+400+len(mark))]
		}
		if n == 0 {
			return nil
		}
		if have > keep {
			have = copy(buf, buf[have-keep:have])
		}
	}
	return nil
}

// readNames lists a directory in no order.
func readNames(dir string) []string {
	fd, err := open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var names []string
	buf := make([]byte, 16<<10)
	for {
		n, err := syscall.ReadDirent(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return names
		}
		_, _, names = syscall.ParseDirent(buf[:n], -1, names)
	}
}

func open(path string, flags int) (int, error) {
	for {
		fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}
