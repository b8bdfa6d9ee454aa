//go:build unix

package observe

import "golang.org/x/sys/unix"

// A procFile is a small file that is read again and again. It is read by bare
// system calls: package os would ask for its kind and offer it to the poller,
// which costs more than the reading. A kept one stays open, and then follows the
// process it was opened for and no other; the zero value reads nothing.
type procFile struct {
	path string
	fd   int
	kept bool
}

func openProc(path string, keep bool) procFile {
	p := procFile{path: path}
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

// read returns the file's first bytes; false where it cannot be read, as when
// its process is gone.
func (p *procFile) read(buf []byte) ([]byte, bool) {
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

// exists reports whether the file can be opened.
func (p *procFile) exists() bool {
	if p.kept {
		return true
	}
	fd, ok := openFile(p.path)
	if ok {
		unix.Close(fd)
	}
	return ok
}

func (p *procFile) close() {
	if p.kept {
		unix.Close(p.fd)
	}
	*p = procFile{}
}
