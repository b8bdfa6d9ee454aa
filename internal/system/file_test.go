//go:build linux

package system

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// What another user could have put in the way is refused, and nothing behind it
// changes.
func TestThreat10SymlinksAndHardLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write(victim, "victim\n", 0o600)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(victim, filepath.Join(dir, "link")))
	must(os.Link(victim, filepath.Join(dir, "hard")))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	must(os.Mkdir(filepath.Join(dir, "open"), 0o755))
	must(os.Chmod(filepath.Join(dir, "open"), 0o777))
	for _, name := range []string{"link", "hard", "fifo", "dir", "open/new", "open/deeper/../new"} {
		if err := WriteFile(filepath.Join(dir, name), []byte("evil\n"), 0o644); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	for _, name := range []string{"hard", "fifo", "dir", "open/new"} {
		if _, err := EditBlock(filepath.Join(dir, name), "x", []string{"evil"}, Keep{}); err == nil {
			t.Errorf("%s was edited", name)
		}
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "victim\n" {
		t.Errorf("the victim is %q, %v", b, err)
	}
	root, err := os.OpenRoot(dir)
	must(err)
	defer root.Close()
	must(os.Symlink("/etc", filepath.Join(dir, "out")))
	if err := WriteIn(root, "out/envfix-test", nil, 0o644); err == nil {
		t.Error("a link led out of the directory")
	}
	if os.Geteuid() == 0 {
		foreign := filepath.Join(dir, "foreign")
		write(foreign, "theirs\n", 0o644)
		must(os.Chown(foreign, 12345, 12345))
		if err := WriteFile(foreign, []byte("x"), 0o644); err == nil {
			t.Error("another user's file was replaced")
		}
		if _, err := ReadOwn(foreign, 100); err == nil {
			t.Error("another user's file was believed")
		}
		must(os.Mkdir(filepath.Join(dir, "theirs"), 0o755))
		must(os.Chown(filepath.Join(dir, "theirs"), 12345, 12345))
		if err := WriteFile(filepath.Join(dir, "theirs/x"), nil, 0o644); err == nil {
			t.Error("a file was written into another user's directory")
		}
		must(os.Symlink(victim, filepath.Join(dir, "theirlink")))
		must(os.Lchown(filepath.Join(dir, "theirlink"), 12345, 12345))
		if _, err := EditBlock(filepath.Join(dir, "theirlink"), "x", []string{"evil"}, Keep{}); err == nil {
			t.Error("another user's link was followed")
		}
	}
}

// A file has the mode that was asked for, whatever the umask, and no temporary
// file is left over.
func TestWriteFileMode(t *testing.T) {
	dir := t.TempDir()
	for _, mask := range []int{0o000, 0o022, 0o077, 0o777} {
		old := syscall.Umask(mask)
		path := filepath.Join(dir, "file")
		err := WriteFile(path, []byte("x"), 0o640)
		syscall.Umask(old)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("umask %o: mode %v, %v, %v", mask, info.Mode(), err, statErr)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func TestUmask(t *testing.T) {
	for mask, want := range map[int]int{0o000: 0o002, 0o022: 0o022, 0o077: 0o077, 0o777: 0o077, 0o002: 0o002} {
		old := syscall.Umask(mask)
		Umask()
		if got := syscall.Umask(old); got != want {
			t.Errorf("umask %03o: got %03o, want %03o", mask, got, want)
		}
	}
}

// Whoever looks at a link while it is switched sees the old or the new one, never
// none.
func TestLinkNeverMisses(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := Link(root, "gen-0", "next", "current"); err != nil {
		t.Fatal(err)
	}
	stop, misses := make(chan struct{}), make(chan int)
	go func() {
		missed, looks := 0, 0
		for {
			select {
			case <-stop:
				if looks == 0 {
					missed = -1
				}
				misses <- missed
				return
			default:
				looks++
				if to, err := root.Readlink("current"); err != nil || !strings.HasPrefix(to, "gen-") {
					missed++
				}
			}
		}
	}()
	for i := range 300 {
		if err := Link(root, []string{"gen-1", "gen-2"}[i%2], "next", "current"); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if n := <-misses; n != 0 {
		t.Errorf("%d looks saw no link (-1: nobody looked)", n)
	}
}

func TestExchange(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("real", 0o755), root.Symlink("x", "link")); err != nil {
		t.Fatal(err)
	}
	err = Exchange(root, "real", "link")
	if errors.Is(err, ErrNoExchange) {
		t.Skip("this file system cannot exchange two names")
	}
	if err != nil {
		t.Fatal(err)
	}
	if to, err := root.Readlink("real"); err != nil || to != "x" {
		t.Errorf("real → %q, %v", to, err)
	}
	if info, err := root.Lstat("link"); err != nil || !info.IsDir() {
		t.Errorf("link: %v, %v", info, err)
	}
}

// Editing a block twice is editing once, and adding then removing it gives back
// every byte, whatever the text and its line ends.
func TestBlockProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		body := rapid.SliceOfN(rapid.StringMatching(`[a-z #>]{0,12}`), 0, 6).Draw(t, "body")
		text := strings.Join(body, eol)
		if rapid.Bool().Draw(t, "ended") && text != "" {
			text += eol
		}
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z$= ]{1,12}`), 1, 3).Draw(t, "lines")
		once, err := editBlock(text, "cuda", lines)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := editBlock(once, "cuda", lines); err != nil || twice != once {
			t.Fatalf("twice: %q, %v; once: %q", twice, err, once)
		}
		other, err := editBlock(once, "cuda", append(lines, "more"))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := editBlock(other, "cuda", lines); err != nil || back != once {
			t.Fatalf("changed and back: %q, %v; want %q", back, err, once)
		}
		if removed, err := editBlock(once, "cuda", nil); err != nil || removed != text {
			t.Fatalf("removed: %q, %v; want %q", removed, err, text)
		}
	})
}

func TestEditBlockFile(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles-bashrc"), filepath.Join(dir, ".bashrc")
	const text = "alias l=ls\r\n# no end"
	if err := errors.Join(os.WriteFile(real, []byte(text), 0o640), os.Symlink("dotfiles-bashrc", link)); err != nil {
		t.Fatal(err)
	}
	if changed, err := EditBlock(link, "env", []string{". ~/.config/envfix/env.sh"}, Keep{}); err != nil || !changed {
		t.Fatalf("changed: %v, %v", changed, err)
	}
	if changed, err := EditBlock(link, "env", []string{". ~/.config/envfix/env.sh"}, Keep{}); err != nil || changed {
		t.Errorf("again: changed %v, %v", changed, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "dotfiles-bashrc" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := EditBlock(link, "env", nil, Keep{}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(real); err != nil || string(b) != text {
		t.Errorf("after removal %q, %v", b, err)
	}
	for name, bad := range map[string]string{
		"two blocks": "# >>> envfix env >>>\n# <<< envfix env <<<\n# >>> envfix env >>>\n# <<< envfix env <<<\n",
		"no end":     "# >>> envfix env >>>\n", "no beginning": "# <<< envfix env <<<\n", "large": strings.Repeat("x", 1<<20+1),
	} {
		path := filepath.Join(dir, "bad")
		if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := EditBlock(path, "env", []string{"x"}, Keep{}); err == nil {
			t.Errorf("%s: edited", name)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != bad {
			t.Errorf("%s: changed to %q, %v", name, b, err)
		}
	}
	if _, err := EditBlock(filepath.Join(dir, "x"), "env", []string{"a\nb"}, Keep{}); err == nil {
		t.Error("a line with a line end was written")
	}
}

func TestLock(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l, err := TryLock(root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := TryLock(root, "lock"); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("a second lock: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if l, err = TryLock(root, "lock"); err != nil {
		t.Errorf("after release: %v", err)
	} else if err := l.Release(); err != nil {
		t.Error(err)
	}
	if err := root.Symlink("lock", "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(root, "other"); err == nil {
		t.Error("a link was locked")
	}
}

// A file that says that it is empty, as those of /proc do, is held to the limit by
// what it gives.
func TestReadFileLimit(t *testing.T) {
	if b, err := ReadFile("/proc/self/status", 16); err == nil {
		t.Errorf("%d bytes were read, and 16 were allowed", len(b))
	}
}

// What is write-protected is removed all the same where it is ours.
func TestRemoveTree(t *testing.T) {
	if os.Geteuid() == 0 { // whom no mode stops: as somebody else, in this thread alone
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer unix.Setfsuid(0)
	}
	dir, err := os.MkdirTemp("", "envfix-tree-") // others may not go through t.TempDir
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := unix.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	deep := filepath.Join(dir, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "file"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for d := deep; d != dir; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.RemoveAll("a"); err == nil {
		t.Fatal("nothing was protected")
	}
	if err := RemoveTree(root, "a"); err != nil {
		t.Error(err)
	}
	if _, err := root.Lstat("a"); !os.IsNotExist(err) {
		t.Errorf("it is there still: %v", err)
	}
}

// What is run without being looked at again lies where only root and this user can
// exchange it: not below a directory of the user who called sudo, nor of a group, nor
// behind a link that leads to one.
func TestThreat02OnlyOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes directories of other users")
	}
	dir := t.TempDir()
	user, group, link := filepath.Join(dir, "user"), filepath.Join(dir, "group"), filepath.Join(dir, "link")
	for _, d := range []string{user + "/mine", group + "/mine", dir + "/own/mine"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chown(user, 65534, 65534), os.Chown(group, 0, 65534), os.Chmod(group, 0o775), os.Symlink(group+"/mine", link)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SUDO_UID", "65534")
	if err := Trusted(user + "/mine"); err != nil {
		t.Errorf("to be written into: %v", err)
	}
	for _, bad := range []string{user + "/mine", group + "/mine", link} {
		if OnlyOwn(bad) == nil {
			t.Errorf("%s: trusted", bad)
		}
	}
	if err := OnlyOwn(dir + "/own/mine"); err != nil {
		t.Error(err)
	}
}
