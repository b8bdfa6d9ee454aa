//go:build unix

package proc

import "golang.org/x/sys/unix"

// A File is a small file that is read again and again. It is read by bare
// system calls: package os would ask for its kind and offer it to the poller,
// which costs more than the reading. A kept one stays open, and then follows the
// process it was opened for and no other; the zero value reads nothing.
type File struct {
	path string
	fd   int
	kept bool
}

// Open prepares to read a file; keep: it stays open.
func Open(path string, keep bool) File {
	p := File{path: path}
	if keep {
		p.fd, p.kept = openFile(path)
	}
	return p
}

func openFile(path string) (fd int, ok bool) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err == nil
		}
	}
}

// Read returns the file's first bytes; false where it cannot be read, as when
// its process is gone.
func (p *File) Read(buf []byte) ([]byte, bool) {
	fd, ok := p.fd, p.kept
	if !ok {
		if p.path == "" {
			return nil, false
		}
		if fd, ok = openFile(p.path); !ok {
			return nil, false
		}
		defer unix.Close(fd)
	}
	for {
		n, err := unix.Pread(fd, buf, 0)
		if err != unix.EINTR {
			return buf[:max(n, 0)], err == nil && n > 0
		}
	}
}

// Exists reports whether the file can be opened.
func (p *File) Exists() bool {
	if p.kept {
		return true
	}
	fd, ok := openFile(p.path)
	if ok {
		unix.Close(fd)
	}
	return ok
}

// Kept reports whether the file stays open between readings.
func (p *File) Kept() bool { return p.kept }

// Close ends it; a File that is closed reads nothing.
func (p *File) Close() {
	if p.kept {
		unix.Close(p.fd)
	}
	*p = File{}
}
