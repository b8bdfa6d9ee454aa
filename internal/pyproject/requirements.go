package pyproject

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// ReadRequirements reads a requirements file of pip. open returns the files that
// it names with -r and -c; nil refuses them. Options that would change where
// packages come from are kept in Indexes and Notes; editable installs, paths and
// repositories are left to the installer and noted. Its error names file and
// line.
func ReadRequirements(content []byte, name string, open func(path string) ([]byte, error)) (*Project, error) {
	p := &Project{}
	f := &lines{p: p, open: open, limits: map[string]pep508.Requirement{}}
	if err := f.read(content, name, false, 0); err != nil {
		return nil, err
	}
	for _, some := range []struct {
		names []string
		said  string
	}{
		{f.away, "it names files of the machine that wrote the list: the version is left open of "},
		{f.single, "it has a version as conda writes it, which is followed, and which pip refuses: "},
		{f.alone, "packages of conda's are not followed: "},
	} {
		if len(some.names) > 0 {
			f.note(name, "%s%s", some.said, few(some.names))
		}
	}
	// A constraint limits a package that is asked for, and asks for none.
	for i, q := range p.Requirements {
		if c, ok := f.limits[q.Name]; ok {
			var err error
			if p.Requirements[i], err = limited(q, c); err != nil {
				return nil, fmt.Errorf("%s: %w", q.From, err)
			}
		}
	}
	return p, nil
}

// limited is the requirement q with what the constraint c adds to it.
func limited(q, c pep508.Requirement) (pep508.Requirement, error) {
	spec, err := version.ParseSpecifier(strings.Trim(q.Spec.String()+","+c.Spec.String(), ","))
	if q.URL != "" || err != nil {
		return q, err // the file that an address names has its version
	}
	q.Spec, q.Label, q.From = spec, cmp.Or(q.Label, c.Label), q.From+", limited by "+c.From
	q.Text = q.Line()
	return q, nil
}

type lines struct {
	p      *Project
	open   func(string) ([]byte, error)
	limits map[string]pep508.Requirement // by name, of -c files
	away   []string                      // packages with a file of the machine that wrote the list
	single []string                      // lines as conda writes them, by hand
	alone  []string                      // packages that conda alone has

	opened, asked int // files that others named, and requirements
}

// What a list of requirements may hold: the largest of real projects are a tenth of
// it, and files that name each other twice would be read without end.
const (
	mostFiles        = 200
	mostRequirements = 10_000
)

func (f *lines) read(content []byte, name string, constraint bool, depth int) error {
	if len(content) > maxFile {
		return fmt.Errorf("%s: larger than %d MiB: this is not a requirements file", name, maxFile>>20)
	}
	if depth > 10 {
		return fmt.Errorf("%s: requirements files include each other", name)
	}
	for start, line := range logical(content) {
		if err := f.line(line, fmt.Sprintf("%s:%d", name, start), name, constraint, depth); err != nil {
			return err
		}
	}
	return nil
}

// logical are the lines of a file, each with where it begins; those that end in a
// backslash go on in the next one.
func logical(content []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n, start := 0, 1
		var whole strings.Builder
		for line := range strings.Lines(string(text.UTF8(content)) + "\n") {
			if n++; whole.Len() == 0 {
				start = n
			}
			before, more := strings.CutSuffix(strings.TrimRight(line, "\r\n"), "\\")
			whole.WriteString(before)
			if more {
				whole.WriteString(" ")
				continue
			}
			if !yield(start, whole.String()) {
				return
			}
			whole.Reset()
		}
	}
}

func (f *lines) line(s, at, name string, constraint bool, depth int) error {
	s = strings.TrimSpace(withoutComment(s))
	switch {
	case s == "":
		return nil
	case strings.HasPrefix(s, "-"):
		return f.option(s, at, name, depth)
	case isPlace(s):
		f.place(s, at, name, false)
		return nil
	}
	if f.asked++; f.asked > mostRequirements {
		return fmt.Errorf("%s: more than %d requirements: this is not a project's list", at, mostRequirements)
	}
	f.p.Hashed = f.p.Hashed || strings.Contains(s, " --hash")
	if columns := strings.Fields(s); (len(columns) == 3 || len(columns) == 4) && !strings.ContainsAny(s, "<>=!~;[@") { // of `conda list`: name, version, build, channel
		s = strings.Join(columns[:3], "=")
	}
	if name, build, ok := exported(s); ok {
		return f.conda(s, name, build, at)
	}
	s, options, _ := strings.Cut(s, " --") // per-requirement options: --hash, --config-settings
	q, err := pep508.Parse(s, at)
	if err != nil && depth > 0 { // -r /etc/shadow: who wrote the list may not be who may read the file
		return fmt.Errorf("%s: this line is no requirement (PEP 508)", at)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if builtAway(q.URL) {
		f.away = append(f.away, q.Name)
		q = pep508.Requirement{Name: q.Name, Text: q.Name, From: at}
	}
	if constraint {
		f.limits[q.Name] = q
		f.p.Limits = append(f.p.Limits, q)
		return nil
	}
	f.hashes(q.Name, options, at)
	f.p.Requirements = append(f.p.Requirements, q)
	return nil
}

// builtAway reports whether an address is one that conda's packages have in a list of
// `pip freeze`: the directory in which they were built.
func builtAway(url string) bool {
	return slices.ContainsFunc([]string{"/croot/", "/conda-bld/", "/feedstock_root/", "/tmp/build/"}, func(dir string) bool {
		return strings.HasPrefix(url, "file://") && strings.Contains(url, dir)
	})
}

// exported is a line of `conda list --export`, numpy=1.21.2=py39h20f2e39_0: its package and
// its build. One that is written by hand has no build: numpy=1.21.2.
func exported(s string) (name, build string, ok bool) {
	parts := strings.Split(s, "=")
	if len(parts) == 2 {
		parts = append(parts, "pypi_0")
	}
	if len(parts) != 3 || slices.Contains(parts, "") || strings.ContainsAny(s, " <>!~;[@") {
		return "", "", false
	}
	return parts[0], parts[2], true
}

// conda takes a line of conda's own list: its Python, its packages for Python. Libraries and
// programs are conda's alone, and noted.
func (f *lines) conda(line, name, build, at string) error {
	if name != "python" && build != "pypi_0" && !strings.HasPrefix(build, "py") {
		f.alone = append(f.alone, text.Escape(name))
		return nil
	}
	if strings.Count(line, "=") == 1 {
		f.single = append(f.single, text.Escape(line))
	}
	e := &Environment{}
	err := e.add(line, at)
	f.p.Python = cmp.Or(e.Python, f.p.Python)
	f.p.Requirements = append(f.p.Requirements, e.Requirements...)
	return err
}

// another reads a file that one names.
func (f *lines) another(file, at string, limits bool, depth int) error {
	if f.opened++; f.opened > mostFiles {
		return fmt.Errorf("%s: more than %d files are named, one by the other", at, mostFiles)
	}
	content, err := f.open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return f.read(content, file, limits, depth)
}

// option reads one option line.
func (f *lines) option(s, at, name string, depth int) error {
	key, value, _ := strings.Cut(s, " ")
	if k, v, ok := strings.Cut(key, "="); ok && strings.HasPrefix(key, "--") {
		key, value = k, v
	} else if len(key) > 2 && !strings.HasPrefix(key, "--") { // -rother.txt
		key, value = s[:2], s[2:]
	}
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	switch key {
	case "-r", "--requirement", "-c", "--constraint":
		if f.open == nil {
			return fmt.Errorf("%s: %q names another file, which cannot be read here", at, s)
		}
		if !path.IsAbs(value) {
			value = path.Join(path.Dir(name), value)
		}
		return f.another(value, at, strings.HasPrefix(strings.TrimLeft(key, "-"), "c"), depth+1)
	case "-i", "--index-url":
		f.p.Indexes = append(f.p.Indexes, Index{URL: value, Default: true, From: at})
	case "--extra-index-url":
		f.p.Indexes = append(f.p.Indexes, Index{URL: value, From: at})
		f.extraIndex(value, at)
	case "-f", "--find-links":
		f.p.Indexes = append(f.p.Indexes, Index{URL: value, From: at, Name: "find-links"})
		f.note(at, "%q is not followed: what only lies there is taken from the index, or built", s)
		f.refuse(at, "--find-links %s: name the files, `NAME @ file:///…`", value)
	case "-e", "--editable":
		f.place(value, at, name, true)
	case "--require-hashes", "--only-binary", "--prefer-binary", "--no-cache-dir":
		// a lock has the hash of every file and takes wheels where there are any
		f.note(at, "%q is not followed", s)
	case "--pre":
		f.note(at, "%q is not followed", s)
		f.p.Options = append(f.p.Options, "prerelease=allow")
	default:
		f.note(at, "%q is not followed", s)
		f.refuse(at, "%s: a lock cannot follow it; take it out", key)
	}
	return nil
}

func (f *lines) note(at, format string, args ...any) {
	f.p.Notes = append(f.p.Notes, at+": "+fmt.Sprintf(format, args...))
}

// few are the first of many, as they are named in one note.
func few(names []string) string {
	return text.Cut(strings.Join(say.Few(names, 6, "%d more"), ", "), 200)
}

// withoutComment drops a comment: "#" at the start or after a blank (pip's rule,
// so that a URL keeps its fragment).
func withoutComment(s string) string {
	if strings.HasPrefix(s, "#") {
		return ""
	}
	for _, mark := range []string{" #", "\t#"} {
		s, _, _ = strings.Cut(s, mark)
	}
	return s
}

// isPlace reports whether a line names a path, a URL or a repository instead of
// a package.
func isPlace(s string) bool {
	head, _, _ := strings.Cut(s, " ")
	name, _, _ := strings.Cut(head, "@")                                          // of NAME@ADDRESS without blanks
	folder := strings.Contains(name, "/") && !strings.ContainsAny(name, "<>=;[:") // submodules/simple-knn
	return strings.IndexAny(s, "./~") == 0 || folder || strings.Contains(head, "://") && strings.ContainsAny(name, ":/") || strings.HasSuffix(head, ".whl")
}
