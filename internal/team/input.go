package team

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// asked is what a call wishes for beside the wishes that are written down, and the input
// of a lock of both; the call's mirrors become those that the policy leaves it.
func (t *Team) asked(ask *Wish, old *lock.Lock) (*wishes, lock.Input, error) {
	w, err := t.wishes(old)
	if err != nil {
		return nil, lock.Input{}, err
	}
	if old != nil && len(w.Requirements)+len(w.Files)+len(old.Input.Sources) == 0 && len(ask.Requirements) > 0 {
		ask.Requirements = append(slices.Clone(old.Input.Requirements), ask.Requirements...) // what was locked unasked stays
	}
	if err := w.apply(t, *ask); err != nil {
		return nil, lock.Input{}, err
	}
	in, err := t.input(w)
	if err != nil {
		return nil, lock.Input{}, err
	}
	ask.Mirrors = underPolicy(ask.Mirrors, in.Policy)
	return w, in, nil
}

// input is what a lock is made from: the wishes, with the files that they name read
// anew.
func (t *Team) input(w *wishes) (lock.Input, error) {
	in := lock.Input{SameTorch: w.SameTorch, Requirements: w.Requirements, Constraints: w.Constraints, Build: w.Build, AsNamed: w.AsNamed, Defaults: w.Defaults,
		Indexes: slices.Clone(w.Indexes), Policy: w.Policy}
	if _, err := policyOf(w.Policy, w.file); err != nil {
		return in, err
	}
	for name, facts := range w.Targets {
		if parsed, err := ParseFacts(facts); err == nil {
			facts = JoinFacts(parsed) // what is wrong is said where targets are parsed
		}
		in.Targets = append(in.Targets, lock.Target{Name: name, Facts: facts})
	}
	for _, f := range w.Files {
		s, err := t.source(w, f, &in)
		if err != nil {
			return in, err
		}
		in.Sources = append(in.Sources, s)
	}
	var err error
	if in.Groups, err = t.groups(w); err != nil {
		return in, err
	}
	if in.Python, err = t.projectPython(w); err != nil {
		return in, err
	}
	in.Requirements = slices.Sorted(slices.Values(in.Requirements))
	in.Build = slices.Sorted(slices.Values(in.Build))
	in.AsNamed = slices.Sorted(slices.Values(in.AsNamed))
	slices.SortFunc(in.Targets, byName)
	if len(in.Targets) == 0 && strings.Contains(in.Defaults, "=") {
		in.Targets = []lock.Target{{Name: "default"}} // the one machine that the flags describe
	}
	if len(in.Requirements)+len(in.Sources) == 0 {
		in.Requirements = []string{"torch", "torchvision"}
	}
	for _, i := range in.Indexes {
		if err := checkIndex(i); err != nil {
			return in, err
		}
	}
	if len(in.Targets) == 0 {
		return in, fail.Wrong("a lock needs the kinds of machine that it is for",
			"`envfix lock --target v100=\"gpu=V100 driver=580 os=linux\" --target cpu=\"gpu=none\"`",
			"or write them under [targets] in "+lock.TeamFile)
	}
	return in, nil
}

// checkIndex refuses an index that could not be asked, or that holds a secret.
func checkIndex(i lock.Tied) error {
	u, err := url.Parse(i.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fail.Wrong("index " + clean(i.Name) + ": its url is not an address such as https://HOST/simple")
	case u.User != nil:
		return fail.Wrong("index "+clean(i.Name)+": its url holds a user or a password, which would stand in the lock",
			"put them into ~/.netrc, uv's keyring, or "+uvVariable(i.Name)+"_USERNAME and "+uvVariable(i.Name)+"_PASSWORD")
	case len(i.Packages) == 0:
		return fail.Wrong("index "+clean(i.Name)+" names no packages: nothing would come from there", "write packages = [\"…\"] beside its url")
	}
	return nil
}

// source reads what one file asks for, so that the lock's digest covers what it says
// and not where its comments stand. Whatever of it a lock cannot follow is refused by
// name; the indexes that it ties packages to are added to in.
func (t *Team) source(w *wishes, file string, in *lock.Input) (lock.Source, error) {
	s := lock.Source{Path: file}
	p, err := t.project(w, file)
	if err != nil {
		return s, err
	}
	refused := append(p.Refused, t.indexes(p, in)...)
	s.Python = p.Python
	for _, q := range p.Requirements {
		text, err := t.besideLock(q, filepath.Dir(t.at(file)))
		if err != nil {
			refused = append(refused, q.From+": "+err.Error())
		}
		s.Requirements = append(s.Requirements, text)
	}
	asked := func(q pep508.Requirement) string { return q.Text }
	s.Constraints, s.Overrides = text.Each(p.Limits, asked), text.Each(p.Overrides, asked)
	s.Hashes = text.Each(p.Hashes, func(h pyproject.Hash) string { return h.Package + " " + h.SHA256 })
	for _, k := range p.Places {
		line, err := t.placeLine(k)
		if err != nil {
			refused = append(refused, k.From+": "+err.Error())
		}
		s.Places = append(s.Places, line)
	}
	if len(refused) > 0 {
		return s, &fail.Error{Code: fail.Usage, Text: clean(file) + " asks for what a lock cannot follow", Details: refused}
	}
	s.Options = slices.Clone(p.Options)
	w.unfollowed = append(w.unfollowed, p.Unfollowed...)
	for _, list := range []*[]string{&s.Requirements, &s.Constraints, &s.Overrides, &s.Places, &s.Hashes, &s.Options} {
		slices.Sort(*list)
	}
	return s, nil
}

// indexes adds the indexes that a project ties packages to, and says which others
// cannot be followed. torch's own index is envfix's choice.
func (t *Team) indexes(p *pyproject.Project, in *lock.Input) (refused []string) {
	for _, i := range p.Indexes {
		tied := tiedTo(p, i.Name)
		switch {
		case i.Name == "find-links" || pyproject.Label(i.URL) != "":
		case i.Default && in.DefaultIndex != "" && in.DefaultIndex != i.URL:
			refused = append(refused, fmt.Sprintf("%s: %s is the default index already", i.From, in.DefaultIndex))
		case i.Default:
			if u, err := url.Parse(i.URL); err != nil || u.User != nil {
				refused = append(refused, i.From+": its address holds a user or a password, which would stand in the lock: use ~/.netrc")
			}
			in.DefaultIndex = i.URL
		case len(tied) > 0:
			tie := lock.Tied{Name: i.Name, URL: i.URL, Packages: tied}
			if !slices.ContainsFunc(in.Indexes, func(t lock.Tied) bool { return t.Name == tie.Name }) {
				in.Indexes = append(in.Indexes, tie)
			}
		case i.Name != "" && !i.Explicit:
			refused = append(refused, fmt.Sprintf("%s: index %s: a package could come from it or from the default one; "+
				"give it `explicit = true` and tie packages to it under [tool.uv.sources]", i.From, i.Name))
		}
	}
	return refused
}

// tiedTo names the packages outside torch's family that a project ties to an index.
func tiedTo(p *pyproject.Project, index string) (tied []string) {
	for _, s := range p.Sources {
		if s.Index == index && index != "" && !slices.Contains(family, s.Package) {
			tied = append(tied, s.Package)
		}
	}
	return tied
}

// family are the packages whose index envfix chooses.
var family = []string{"torch", "torchvision", "torchaudio"}

// placeLine is a place as a line of a requirements file whose paths are relative to
// the lock.
func (t *Team) placeLine(p pyproject.Place) (string, error) {
	where := p.Where
	if address, ok := strings.CutPrefix(where, "file://"); ok {
		where = address
		p.Where = address
	}
	if p.Local() {
		if !filepath.IsAbs(where) {
			where = filepath.Join(p.Dir, where)
		}
		way, inside, err := t.fromLock(where)
		if err != nil {
			return "", err
		}
		if !inside && strings.HasSuffix(way, ".whl") {
			return "", strange(p.Where)
		}
		where = "./" + way
	}
	line := where
	switch {
	case p.Editable:
		line = "-e " + where
	case p.Package != "" && !p.Local():
		line = p.Package + " @ " + where
	}
	return line + say.With(" ; ", p.Marker, ""), nil
}

// besideLock is a requirement's text; where it names a file of this machine, the path
// is made relative to the lock.
func (t *Team) besideLock(q pep508.Requirement, dir string) (string, error) {
	path, ok := strings.CutPrefix(q.URL, "file:")
	if !ok {
		return q.Text, nil
	}
	path = "/" + strings.TrimLeft(strings.TrimPrefix(path, "//localhost"), "/")
	if rest := strings.TrimPrefix(q.URL, "file:"); !strings.HasPrefix(rest, "/") {
		path = filepath.Join(dir, filepath.FromSlash(rest))
	}
	way, inside, _ := t.fromLock(path)
	if !inside {
		return "", strange(q.URL)
	}
	return q.Name + " @ file:" + way + say.With(" ; ", q.Marker, ""), nil
}

// wished parses everything that is asked for: always says what of it is not of a group
// alone.
func wished(in lock.Input) (all, always []pep508.Requirement, err error) {
	texts := slices.Concat(in.Requirements, slices.Concat(text.Each(in.Sources, func(s lock.Source) []string { return s.Requirements })...))
	if always, err = describe.Requirements(texts); err != nil {
		return nil, nil, err
	}
	grouped := xslices.Once(text.Each(in.Groups, func(g lock.Group) []string { return g.Requirements })...)
	more, err := describe.Requirements(slices.DeleteFunc(grouped, func(line string) bool { return slices.Contains(texts, line) }))
	return slices.Concat(always, more), always, err
}
