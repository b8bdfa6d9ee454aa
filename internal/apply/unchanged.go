package apply

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// An amended is what the environment in use holds, and one that was made from it by links
// with packages more or fewer: file by file, by their names among the packages.
type amended struct{ before, after map[string]string }

// torchStands reports whether torch proved itself before, in the environment that env leads
// to and that gen was made from, and need not again.
func torchStands(env, gen string) (from string, stands bool) {
	from, err := filepath.EvalSymlinks(env)
	if err != nil {
		return "", false
	}
	was, errA := packageFiles(from)
	is, errB := packageFiles(gen)
	return from, errA == nil && errB == nil && amended{was, is}.torchStands()
}

func packageFiles(dir string) (map[string]string, error) {
	out := map[string]string{}
	sites, err := filepath.Glob(dir + "/lib/python*/site-packages")
	for _, site := range sites {
		err = errors.Join(err, filepath.WalkDir(site, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.Contains(path, "/__pycache__/") {
				out[strings.TrimPrefix(path, site+"/")] = path
			}
			return err
		}))
	}
	return out, err
}

// torchStands reports whether what torch proved holds without its import, which takes
// seconds: every file that stays is the same one, by a hard link. What came or went lies
// apart from what stays, no start of Python runs it, it does not ask for torch or register
// with it, and torch does not look for it.
func (a amended) torchStands() bool {
	stays, sought := map[string]bool{}, []string{"numpy"} // which no metadata of torch names
	for name, was := range a.before {
		is, there := a.after[name]
		if there && !same(was, is) {
			return false
		}
		stays[top(name)] = stays[top(name)] || there
		if strings.HasPrefix(name, "torch-") && strings.HasSuffix(name, ".dist-info/METADATA") {
			for _, line := range fields(content(was), "Requires-Dist") {
				sought = append(sought, machine.NormalName(distName().FindString(line)))
			}
		}
	}
	apart := func(these, others map[string]string) bool {
		for name, path := range these {
			module, _, _ := strings.Cut(top(name), ".")
			_, both := others[name]
			if !both && (stays[top(name)] || slices.Contains(sought, machine.NormalName(module)) || meetsTorch(name, path)) {
				return false
			}
		}
		return true
	}
	return stays["torch"] && apart(a.before, a.after) && apart(a.after, a.before)
}

// What tells that a package asks for torch, and that the import of torch asks for it.
var (
	asksForTorch = lazy.Regexp(`(?im)^Requires-Dist: *[\w.-]*torch`)
	torchsGroup  = lazy.Regexp(`(?m)^\[torch`)
)

// meetsTorch reports a file by which Python's start or torch hears of a package, or that asks for torch.
func meetsTorch(name, path string) bool {
	return strings.HasSuffix(name, ".pth") ||
		strings.HasSuffix(name, ".dist-info/METADATA") && asksForTorch().Match(content(path)) ||
		strings.HasSuffix(name, ".dist-info/entry_points.txt") && torchsGroup().Match(content(path))
}

func top(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

// distName is what a requirement begins with.
var distName = lazy.Regexp(`^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?`)

// same reports whether two names are of one file, or of one that names its own place.
func same(was, is string) bool {
	a, errA := os.Stat(was)
	b, errB := os.Stat(is)
	if errA != nil || errB != nil || os.SameFile(a, b) {
		return errA == nil && errB == nil
	}
	from, _, _ := strings.Cut(was, "/lib/python")
	to, _, _ := strings.Cut(is, "/lib/python")
	return a.Size() <= edited && bytes.Equal(bytes.ReplaceAll(content(was), []byte(from), []byte(to)), content(is))
}

func content(path string) []byte {
	b, _ := os.ReadFile(path) // what cannot be read says nothing
	return b
}
