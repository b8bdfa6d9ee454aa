package system

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WriteFile creates or replaces path as one act: a temporary file beside it is
// written, synced and renamed over it, and the directory is synced. It refuses a
// path that another user could bend, and anything but a regular file of ours with
// one name. The mode holds whatever the umask.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	dir, name := filepath.Split(filepath.Clean(path))
	dir = cmp.Or(dir, ".")
	if err := Trusted(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return WriteIn(root, name, content, mode)
}

// WriteIn is WriteFile below a directory that is already open; name cannot leave
// it, not even through a symbolic link.
func WriteIn(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	switch info, err := root.Lstat(name); {
	case err == nil:
		if err := ours(filepath.Join(root.Name(), name), info); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp := filepath.Join(filepath.Dir(name), ".envfix-tmp-"+rand.Text())
	err := writeSynced(root, tmp, content, mode)
	if err == nil {
		err = Point("rename-" + filepath.Base(name))
	}
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		_ = root.Remove(tmp) // the first error is the one to tell
		return err
	}
	return SyncDir(root, filepath.Dir(name))
}

func writeSynced(root *os.Root, name string, content []byte, mode fs.FileMode) (err error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|nofollow, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Chmod(mode.Perm()); err != nil {
		return err
	}
	return f.Sync()
}

// ErrNoExchange says that this file system or system cannot exchange two names.
var ErrNoExchange = errors.New("two names cannot be exchanged at once here")

// Replace writes b beside path and renames it there, so that no reader ever sees half of
// it. The mode holds whatever the umask. What is no regular file (/dev/stdout, a pipe) is
// written to, not replaced.
func Replace(path string, b []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(b)
		return errors.Join(err, f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = Point("rename-" + filepath.Base(path))
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}

// RemoveTree removes name and what is below it. What builds leave write-protected
// (directories of mode 0555) is in our way only until that is taken off.
func RemoveTree(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), filepath.ToSlash(name), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(path, 0o700) // another user's stays as it is, and removing it fails below
		}
		return nil
	})
	return root.RemoveAll(name)
}

// SyncDir makes a directory's entries durable.
func SyncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // a file system that has no such notion
	}
	return errors.Join(err, d.Close())
}

// Link makes link a symbolic link to target as one act: whoever looks meanwhile
// sees the old one or the new one. A link that is not one is refused; see
// [Exchange]. tmp is where the new link is made first; it must be on the same
// file system.
func Link(root *os.Root, target, tmp, link string) error {
	if info, err := root.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is not a symbolic link", filepath.Join(root.Name(), link))
	}
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.Symlink(target, tmp); err != nil {
		return err
	}
	if err := SyncDir(root, filepath.Dir(tmp)); err != nil {
		return err
	}
	if err := Point("rename-" + filepath.Base(link)); err != nil {
		return err
	}
	if err := root.Rename(tmp, link); err != nil {
		return err
	}
	return errors.Join(SyncDir(root, filepath.Dir(link)), SyncDir(root, filepath.Dir(tmp)))
}

// ReadFile reads at most limit bytes of a regular file; more is an error.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0) // a FIFO must not hold us up
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that it may have", info.Size(), limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may grow, and those of /proc say 0
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it has more than the %d bytes that it may have", limit)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// ReadOwn is ReadFile for a file that will be believed and run: it refuses one
// that belongs to another user than us and root, or that everybody may write.
func ReadOwn(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := believable(info); err != nil {
		return nil, err
	}
	return ReadFile(path, limit)
}

// OpenInput opens a file that a person named. A pipe by name is refused: it waits
// for a writer that may never come, and no signal ends that. Those that a shell
// hands over (/dev/stdin, /dev/fd/63) have one.
func OpenInput(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	handed := strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 && !handed {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a pipe, not a file")}
	}
	return os.Open(path)
}

// OwnFile writes a file into a new directory that only we can reach, and returns
// its path and what removes it: so that nobody exchanges it before its use.
func OwnFile(name string, b []byte) (path string, remove func(), err error) {
	parent := "/tmp" // whose sticky bit keeps others from renaming; TMPDIR is anybody's
	if _, err := os.Stat(parent); err != nil {
		parent = os.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "envfix-") // mode 0700
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}
