package observe

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"envfix/internal/proc"
	"envfix/internal/system"
)

// A lane is where the probe and envfix meet: a folder with the probe's source and
// one with a page and a list of events for each process that it reached. Both lie
// where no other user can ever make anything: children that outlive the job keep
// both in their environment, and whoever could make the folders again would run
// code as this user.
type lane struct {
	code string // never changes and is never removed: its name holds a digest of what is in it
	dir  string // of this run; removed at its end
}

// homes are the folders that may hold lanes, the best first: this user's own at
// run time, which is in memory and gone with the session, and that of envfix's
// state. TMPDIR is anybody's.
func (o Options) homes() (dirs []string) {
	if dir := lookup(o.Env, "XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "envfix"))
	}
	if filepath.IsAbs(o.State) {
		dirs = append(dirs, o.State)
	}
	return dirs
}

// newLane makes the folders of a run. It tries several places, for a full or
// read-only one must not cost the job.
func newLane(o Options) (*lane, error) {
	var problems error
	for _, home := range o.homes() {
		l, err := laneIn(home)
		if err == nil {
			return l, nil
		}
		problems = errors.Join(problems, err)
	}
	return nil, cmp.Or(problems, errors.New("no home directory is known"))
}

func laneIn(home string) (*lane, error) {
	if err := private(home); err != nil {
		return nil, err
	}
	code, err := writeProbe(home)
	if err != nil {
		return nil, err
	}
	sweep(home)
	dir, err := os.MkdirTemp(home, "run-") // 0700
	if err != nil {
		return nil, err
	}
	l := &lane{code, dir}
	if err := os.WriteFile(filepath.Join(dir, "room"), make([]byte, 4*pageSize), 0o600); err != nil { // is there room for pages?
		l.remove()
		return nil, err
	}
	return l, nil
}

// private makes a folder that is this user's alone, or sees that it is.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := system.OnlyOwn(dir); err != nil {
		return err
	}
	if kind := networkDisk(dir); kind != "" {
		return fmt.Errorf("%s is on %s", dir, kind) // pages are mapped, and read while they are written
	}
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if uid, known := proc.Owner(dir); known && uid != os.Getuid() {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if st.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be written by others: `chmod go-w %s`", dir, dir)
	}
	return nil
}

// writeProbe lays the probe's files into a folder whose name holds their digest.
// One that is there stays, and is made whole where a file of it is missing or
// another: each is replaced in one step, for a job may be reading it.
func writeProbe(home string) (string, error) {
	files := sources()
	names := slices.Sorted(maps.Keys(files))
	sum := sha256.New()
	for _, name := range names {
		fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(files[name]))
	}
	dir := filepath.Join(home, fmt.Sprintf("probe-%.8x", sum.Sum(nil)))
	for _, d := range []string{dir, filepath.Join(dir, "__pycache__")} {
		if err := private(d); err != nil {
			return "", err
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
			if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, files[name]) {
				continue
			}
		}
		if err := system.Replace(path, files[name], 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// forgotten is how old the folder of a run is when nobody can be at it: a kill
// leaves one behind.
const forgotten = 90 * 24 * time.Hour

// sweep removes what killed runs left behind.
func sweep(home string) {
	left, _ := filepath.Glob(filepath.Join(home, "run-*"))
	for _, dir := range left {
		if st, err := os.Lstat(dir); err == nil && st.IsDir() && time.Since(st.ModTime()) > forgotten {
			os.RemoveAll(dir)
		}
	}
}

// changed reports whether files were made in the folder since the time that seen
// holds, in nanoseconds, and sets it.
func (l *lane) changed(seen *int64) bool {
	st, err := os.Stat(l.dir)
	if err != nil {
		return false
	}
	old := *seen
	*seen = st.ModTime().UnixNano()
	return *seen != old
}

func (l *lane) remove() { os.RemoveAll(l.dir) }

// files lists the probes' files of a kind by process.
func (l *lane) files(kind string) map[int]string {
	out := map[int]string{}
	if l == nil {
		return out
	}
	list, _ := os.ReadDir(l.dir)
	for _, e := range list {
		if pid, k := probeFile(e.Name()); k == kind && len(out) < mostProcesses {
			out[pid] = filepath.Join(l.dir, e.Name())
		}
	}
	return out
}

// lanes are this user's runs that are going on.
func (o Options) lanes() (out []*lane) {
	for _, home := range o.homes() {
		runs, _ := filepath.Glob(filepath.Join(home, "run-*"))
		for _, dir := range runs {
			if id, ok := proc.Owner(dir); ok && id == os.Getuid() {
				out = append(out, &lane{dir: dir})
			}
		}
	}
	return out
}

// laneOf finds the folder that a process's probe writes to.
func (o Options) laneOf(pid int) *lane {
	for _, l := range o.lanes() {
		for _, p := range proc.Self.Descendants(pid, true, mostProcesses) {
			if _, err := os.Stat(filepath.Join(l.dir, fmt.Sprintf("p%d.page", p))); err == nil {
				return l
			}
		}
	}
	return nil
}
