package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/version"
	"envfix/resolver"
)

// documents say in the project's own words how it is installed, whatever their case.
var documents = []string{"README.md", "README.rst", "README.txt", "README", "INSTALL.md", "install.sh", "setup.sh", "Dockerfile", "docker/Dockerfile"}

// documentsOf are those that lie in a directory.
func documentsOf(dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the directory was listed before
	}
	for _, name := range documents {
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return strings.EqualFold(e.Name(), name) })
		switch {
		case i >= 0:
			out = append(out, entries[i].Name())
		case strings.Contains(name, "/") && IsFile(filepath.Join(dir, filepath.FromSlash(name))):
			out = append(out, name)
		}
	}
	return out
}

// installLine is the line of the project's own documents that installs torch: of the first
// one that does, with the newest torch where it has lines for several; else the first that
// installs anything.
func installLine(dir string) (where string, line pyproject.Install) {
	for _, name := range documentsOf(dir) {
		text, err := ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		for _, i := range pyproject.Installs(text) {
			torch := i.Torch() != "" && !strings.Contains(i.Index, "rocm")
			if line.Line == 0 || torch && (line.Torch() == "" || where == name && pinnedTorch(i).Compare(pinnedTorch(line)) > 0) {
				where, line = name, i
			}
		}
	}
	return where, line
}

// pinnedTorch is the torch that a line installs in one version; zero where it leaves it open.
func pinnedTorch(i pyproject.Install) version.Python {
	_, v, _ := strings.Cut(i.Torch(), "==")
	v, _ = version.SplitLocal(v)
	torch, _ := version.ParsePython(v)
	return torch
}

// followDocument takes torch and its companions, and all packages where no file is
// followed, from the line of the project's documents that installs torch; "" no line does,
// or the followed file says it. Their versions are kept as those of a lock are: where
// they run here.
func (w *Wish) followDocument(dir, followed string) (read string) {
	if p, err := Read(filepath.Join(dir, followed)); followed != "" && (err != nil || p.Asks("torch") || len(p.TorchIn) > 0) || w.Lock != nil || DemandsItself(w.Manager) {
		return ""
	}
	where, line := installLine(dir)
	if line.Torch() == "" || line.Conda && followed == "" { // what else conda installs has other names
		return ""
	}
	at := fmt.Sprintf("%s:%d", where, line.Line)
	own := &pyproject.OwnLock{Name: at}
	for _, q := range namedIn(line, at) {
		if followed != "" && q.Name != "torch" && !slices.Contains(resolver.Companions(), q.Name) {
			continue
		}
		if strings.HasPrefix(q.Spec.String(), "==") {
			if label := pyproject.Label(line.Index); q.Name == "torch" && q.Label == "" && label != "" {
				q.Text += "+" + label
			}
			own.Pins = append(own.Pins, q)
			q = pep508.Requirement{Name: q.Name, Extras: q.Extras, Text: q.Name, From: at}
		}
		w.documented = append(w.documented, q)
	}
	if len(own.Pins) > 0 {
		w.Lock = own
	}
	return at + " (" + line.Text + ")"
}

// namedIn are the packages that a line installs by name.
func namedIn(line pyproject.Install, at string) (out []pep508.Requirement) {
	for _, word := range line.Words {
		if q, err := pep508.Parse(word, at); err == nil && q.URL == "" && word[0] > '9' {
			out = append(out, q)
		}
	}
	return out
}
