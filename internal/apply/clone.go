package apply

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
)

// edited is how large a file may be that names the environment's own place: a program's
// first line, the activate scripts, a kernel's description.
const edited = 1 << 20

// clone makes the generation what the environment in use is. Its files are the same ones,
// by hard links, and no installer writes to a file that is there: it removes and creates
// (uv 0.13 in each link mode, pip 23; the test of it holds hashes). What names the place is
// written anew.
func (r *run) clone(ctx context.Context, without []string) error {
	from, err := filepath.EvalSymlinks(r.env.Dir)
	if err != nil {
		return err
	}
	to := r.env.path(genPath(r.gen.ID))
	behind := staysBehind(from, without)
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if behind[path] {
			return say.Either(e.IsDir(), fs.SkipDir, nil)
		}
		there := to + strings.TrimPrefix(path, from)
		switch e.Type() {
		case fs.ModeDir:
			return os.MkdirAll(there, 0o755)
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if rest, within := strings.CutPrefix(target, from+"/"); within {
				target = to + "/" + rest
			}
			return errors.Join(err, os.Symlink(target, there))
		case 0:
			return cloneFile(path, there, from, to, r.plan.Target.Framed() != "")
		}
		return nil
	})
}

// staysBehind are the files of an environment that its clone is without: of distributions that
// come again, as often as they are listed, with all that any of their RECORDs names, and what a
// broken upgrade left. An installer that is to replace them stops at a RECORD that is cut off
// (uv 0.13), or leaves the second copy (pip 23).
func staysBehind(from string, without []string) map[string]bool {
	out := map[string]bool{}
	found, _ := fs.Glob(os.DirFS(from), "lib/python*/site-packages/*") // a fixed pattern
	for _, at := range found {
		base := filepath.Base(at)
		name, is := strings.CutSuffix(base, ".dist-info")
		name, _, _ = strings.Cut(name, "-")
		if !slices.Contains(without, base) && (!is || !slices.Contains(without, machine.NormalName(name))) {
			continue
		}
		out[filepath.Join(from, at)] = true
		for _, f := range machine.ReadRecord(content(filepath.Join(from, at, "RECORD"))) {
			out[filepath.Join(from, filepath.Dir(at), f.Path)] = true
		}
	}
	return out
}

// ofEnvironment reports whether a place is an environment, or one that was moved away.
func ofEnvironment(dir string) bool {
	_, gone := os.Stat(dir + "/bin")
	_, none := os.Stat(dir + "/pyvenv.cfg")
	return gone != nil || none == nil
}

// cloneFile links a file, or writes it where it names the place or no link can be made. Of an
// environment that was moved (framed) the programs name the place where it was.
func cloneFile(path, there, from, to string, framed bool) error {
	packages := strings.Contains(filepath.Dir(path), "/site-packages/") // what lies beside them uv writes to in place: _virtualenv.py
	if packages && os.Link(path, there) == nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !packages && info.Size() > edited && os.Link(path, there) == nil {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if moved := bytes.ReplaceAll(b, []byte(from), []byte(to)); !packages && len(b) <= edited && !bytes.ContainsRune(b, 0) {
		b = moved
		if filepath.Dir(path) == from+"/bin" {
			b = program(b, to, framed)
		}
	}
	return os.WriteFile(there, b, info.Mode().Perm())
}

// program is a program of the environment as it starts the Python of its place, however long
// that is.
func program(b []byte, to string, framed bool) []byte {
	python, rest := machine.StartedBy(string(b))
	if framed && python != "" && ofEnvironment(strings.TrimSuffix(python, "/bin/"+filepath.Base(python))) {
		python = to + "/bin/python"
	}
	if !strings.HasPrefix(python, to+"/bin/") {
		return b
	}
	return []byte(machine.Starting(python, text.Command(python)) + rest)
}
