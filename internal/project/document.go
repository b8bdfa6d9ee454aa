package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
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

// ownInstall is a command that installs a project from its folder, whole; pipInstall one that
// says what it installs.
var (
	ownInstall = lazy.Regexp(`\b(uv sync|(poetry|pdm) install|setup\.py (install|develop))\b`)
	pipInstall = lazy.Regexp(`\b(pip3?|mim) install\b`)
)

// takesFiles is a line that installs, perhaps from a list that it names; a list of which a sentence
// speaks otherwise is for something else. branches are a script's that installs one of several.
var (
	takesFiles = lazy.Regexp(`(?i)\binstall|\benv(ironment)? (create|update)\b|\bsync\b|(^|\s)(-r|--requirement|--file)\b|^\s*(COPY|ADD)\s`)
	branches   = lazy.Regexp(`(?m)^\s*(RUN )?(if|case|for|while|conda deactivate)\b`)
)

// A speech is what a project's own documents say of how it is installed.
type speech struct {
	words  map[string]bool     // each word, such as the name of a list; true: a line that installs has it
	whole  bool                // a command installs the folder, or the project by its name
	extras [][2]string         // with which extras, "[vllm]", and in which line
	where  string              // the document of the line
	line   pyproject.Install   // that installs torch: the newest where they have lines for several; else the first of all
	more   []pyproject.Install // the others below the same heading, or of the same script
}

// spoken reads a project's own documents.
func spoken(dir string) *speech {
	s, own := &speech{words: map[string]bool{}}, append(itself(dir), "")
	script := false
	for _, document := range documentsOf(dir) {
		content, _ := ReadFile(filepath.Join(dir, filepath.FromSlash(document))) // what cannot be read says nothing
		s.hear(string(content), document, own)
		lines := pyproject.Installs(content)
		for _, i := range lines {
			if s.yields(document, i) {
				s.where, s.line, s.more = document, i, lines
				script = !strings.HasPrefix(strings.ToUpper(document), "README") && !branches().Match(content)
			}
		}
	}
	page := strings.EqualFold(filepath.Ext(s.where), ".md")
	s.more = xslices.Filter(s.more, func(i pyproject.Install) bool {
		together := script && !page || page && i.Section == s.line.Section
		return together && i.Line != s.line.Line && !i.Conda && !strings.Contains(strings.ToLower(i.Text), "optional")
	})
	return s
}

// hear keeps what the lines of one document name, where they install.
func (s *speech) hear(content, document string, own []string) {
	zipped := own[0][:max(0, strings.LastIndexByte(own[0], '-'))] // GitHub's archives hold NAME-main
	for i, line := range strings.Split(content, "\n") {
		s.whole = s.whole || ownInstall().MatchString(line)
		pip, takes := pipInstall().MatchString(line), takesFiles().MatchString(line)
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r`\"'()=", r) }) {
			name, extras := Extras(word)
			s.words[strings.TrimPrefix(name, "./")] = s.words[strings.TrimPrefix(name, "./")] || takes
			name = machine.NormalName(strings.Trim(name, "."))
			is := pip && slices.Contains(own, name)
			if s.whole = s.whole || is; extras != "" && (is || pip && name == zipped) && len(s.extras) < 10 {
				s.extras = append(s.extras, [2]string{extras, fmt.Sprintf("%s:%d", document, i+1)})
			}
		}
	}
}

// names reports whether the documents install from a file of the project: from a list by its
// name, from its packaging by the folder or the project.
func (s *speech) names(file string) bool {
	return s.words[file] || s.whole && slices.Contains(packagings, file)
}

// starts reports whether the documents start a file of the project, by its path or, with
// `python -m`, by its name as a module.
func (s *speech) starts(file string) bool {
	module, is := strings.CutSuffix(file, ".py")
	_, byPath := s.words[file]
	_, byName := s.words[strings.ReplaceAll(module, "/", ".")]
	return is && (byPath || byName)
}

// beyond says with which extras the documents install the project, where none was asked for.
func (s *speech) beyond(w *Wish) []string {
	e, defined := xslices.Find(s.extras, func(e [2]string) bool {
		_, err := definer(w.Dir, e[0])
		return err == nil
	})
	if !defined || w.Extras != "" || DemandsItself(w.Manager) {
		return nil
	}
	return []string{fmt.Sprintf("%s installs the project with extras, which are not asked for: `envfix plan '%s%s'` asks for them", e[1], w.Dir, e[0])}
}

// yields reports whether a line of the document where says more than the one that was found.
func (d *speech) yields(where string, i pyproject.Install) bool {
	torch := i.Torch() != "" && !strings.Contains(i.Index, "rocm")
	switch {
	case d.line.Line == 0:
		return true
	case d.line.Torch() == "":
		return torch || d.line.Prose && !i.Prose
	}
	return torch && d.where == where && pinnedTorch(i).Compare(pinnedTorch(d.line)) > 0
}

// itself are the names of the project in a directory.
func itself(dir string) (names []string) {
	if path, err := filepath.Abs(dir); err == nil {
		names = append(names, machine.NormalName(filepath.Base(path)))
	}
	for _, name := range packagings {
		names = append(names, machine.NormalName(wishes(filepath.Join(dir, name)).Name))
	}
	return names
}

// packages are those that the lines install by name, each as the first line has it that says a
// version, beside the project itself.
func (d *speech) packages(dir string) (out []pep508.Requirement) {
	names := append(itself(dir), "pip", "setuptools", "wheel", "uv")
	for _, line := range append([]pyproject.Install{d.line}, d.more...) {
		if line.Prose && line.Torch() == "" {
			continue
		}
		for _, word := range line.Words {
			q, err := pep508.Parse(word, fmt.Sprintf("%s:%d", d.where, line.Line))
			if err != nil || q.URL != "" || word[0] <= '9' || slices.Contains(names, q.Name) {
				continue
			}
			if label := pyproject.Label(line.Index); q.Name == "torch" && strings.HasPrefix(q.Spec.String(), "==") && q.Label == "" && label != "" {
				q.Text += "+" + label
			}
			same := slices.IndexFunc(out, func(other pep508.Requirement) bool { return other.Name == q.Name })
			switch {
			case same < 0:
				out = append(out, q)
			case out[same].Spec.IsZero(): // a later line says the version
				out[same] = q
			}
		}
	}
	return out
}

// beside says what the project's documents install below the same heading as the first of
// their lines, and nothing that is followed asks for.
func (d *speech) beside(dir, followed string, documented []pep508.Requirement) []string {
	p := wishes(filepath.Join(dir, followed))
	more := xslices.Filter(d.packages(dir), func(q pep508.Requirement) bool {
		return !p.Lists(q.Name) && q.Name != "torch" && !slices.ContainsFunc(documented, func(other pep508.Requirement) bool { return other.Name == q.Name })
	})
	texts := text.Each(more, func(q pep508.Requirement) string { return text.Escape(q.Text) })
	lead := fmt.Sprintf("%s:%d installs what nothing that is followed asks for: ", d.where, d.line.Line)
	return say.All(say.With(lead, strings.Join(say.Few(texts, 8, "%d more"), ", "), ""))
}

// pinnedTorch is the torch that a line installs in one version; zero where it leaves it open.
func pinnedTorch(i pyproject.Install) version.Python {
	_, v, _ := strings.Cut(i.Torch(), "==")
	return version.Public(v)
}

// told says where the lines are that ask for these, and what each is.
func (d *speech) told(asked []pep508.Requirement) (read string) {
	for _, q := range asked {
		if said := q.From + " ("; !strings.Contains(read, said) {
			line, _ := xslices.Find(append([]pyproject.Install{d.line}, d.more...), func(i pyproject.Install) bool {
				return strings.HasSuffix(q.From, fmt.Sprintf(":%d", i.Line))
			})
			read += say.If(read != "", ", ") + said + line.Text + ")"
		}
	}
	return read
}

// followDocument takes torch and its companions from the line of the project's documents that
// installs torch, and all that the lines below its heading install where no file that is
// followed asks for anything; "" no line does, or the followed file says it. Their versions are
// kept as those of a lock are: where they run here.
func (w *Wish) followDocument(dir, followed string, d *speech) (read string) {
	p, err := Read(filepath.Join(dir, followed))
	whole := followed == "" || err == nil && asksNothing(p)
	switch asks := !whole && (err != nil || p.Asks("torch") || len(p.TorchIn) > 0); {
	case w.Lock != nil, DemandsItself(w.Manager), asks,
		d.line.Torch() == "" && (!whole || len(listsBelow(dir)) > 0),
		d.line.Conda && followed == "": // what else conda installs has other names
		return ""
	}
	asked := d.packages(dir)
	if !whole {
		asked = xslices.Filter(asked, family)
	}
	return w.pinned(d, asked)
}

// family reports whether a package is torch, or a companion of it.
func family(q pep508.Requirement) bool {
	return q.Name == "torch" || slices.Contains(resolver.Companions(), q.Name)
}

// pinned asks for what lines of a document install, with their versions as a lock's.
func (w *Wish) pinned(d *speech, asked []pep508.Requirement) (read string) {
	own := &pyproject.OwnLock{Name: fmt.Sprintf("%s:%d", d.where, d.line.Line)}
	w.documented = slices.DeleteFunc(w.documented, func(q pep508.Requirement) bool { return pep508.Asks(asked, q.Name) }) // as an import of the sources
	for _, q := range asked {
		if strings.HasPrefix(q.Spec.String(), "==") {
			own.Pins = append(own.Pins, q)
			q = pep508.Requirement{Name: q.Name, Extras: q.Extras, Text: q.Name, From: q.From}
		}
		w.documented = append(w.documented, q)
	}
	if strings.Contains(d.line.Index, "/nightly/") && w.Channel == "" {
		w.Said = append(w.Said, own.Name+" installs a torch of PyTorch's nightly channel, which is not followed: `--channel nightly` takes one")
	}
	if len(own.Pins) > 0 {
		w.Lock = own
	}
	return d.told(asked)
}
