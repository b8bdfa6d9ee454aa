package system

import (
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// terminal gives the program a terminal for its messages, on which it draws how far it is.
// ended is called when it is gone. Where none is to be had, it has a pipe, as ever, and draws
// nothing.
func (l *lines) terminal(cmd *exec.Cmd, columns uint16) (ended func()) {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return func() {}
	}
	theirs, err := otherEnd(ours, &unix.Winsize{Row: 60, Col: columns})
	if err != nil {
		ours.Close()
		return func() {}
	}
	cmd.Stderr, l.drawn = theirs, true
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 32<<10)
		for n, err := ours.Read(b); err == nil; n, err = ours.Read(b) { // EIO: nobody has the other end any more
			_, _ = l.Write(b[:n])
		}
	}()
	return func() {
		theirs.Close()
		select {
		case <-read:
		case <-time.After(cmd.WaitDelay): // something else keeps the other end
		}
		ours.Close()
	}
}

// otherEnd opens the end of a terminal that a program gets.
func otherEnd(ours *os.File, size *unix.Winsize) (*os.File, error) {
	raw, err := ours.SyscallConn()
	if err != nil {
		return nil, err
	}
	var number uint32
	if failed := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetUint32(int(fd), unix.TIOCGPTN)
		}
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) // else it has the usual one
	}); failed != nil || err != nil {
		return nil, err
	}
	return os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|unix.O_NOCTTY, 0)
}
