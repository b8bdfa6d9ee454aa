package project

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/planning"
	"envfix/internal/pyproject"
	"envfix/internal/text"
	"envfix/resolver"
)

// A Wish says what is wanted: the words, the requirements and the files of them.
type Wish struct {
	describe.Request
	Arguments []string
	Files     []string
	Dir       string             // the directory of the project that is followed; "" none
	Extras    string             // of that project, which are asked for: "[dev]"; "" none
	Home      string             // where that directory will be, where it is a copy in the cache; "" there
	FileCUDA  bool               // the CUDA is what a project's file names
	ByFile    bool               // the manager is conda because a project's file is conda's
	demands   string             // what the followed environment.yml demands of Python; "" nothing
	Read      string             // which files of the project were read, and which were not followed
	Lock      *pyproject.OwnLock // what its own tool locked; nil nothing
	Said      []string           // what else its reader is to know

	documented []pep508.Requirement // what a line of the project's documents installs
	Undeclared []undeclared         // what its sources import, and nothing that is followed asks for
	Parts      []string             // the modules that they import in any case, by their whole names
}

// TakeNames takes the names that only a file says as they are written, or, where it is known
// what is meant, that package, and refuses those that the command line mistypes before an
// index hears of them: somebody may have taken the name.
func (w *Wish) TakeNames(q *planning.Question) error {
	for {
		like, is := errors.AsType[*resolver.NameError](resolver.Misnamed(q.Matrix, q.Request))
		switch {
		case !is:
			return nil
		case like.From == "":
			return fail.Wrap(fail.Usage, like)
		}
		if meant, err := pep508.Parse(like.Meant, like.From); like.Why != "" {
			if err != nil {
				return fail.Wrap(fail.Usage, like)
			}
			for i, asked := range q.Request.Requirements {
				if asked.Name == like.Name { // its version is one of the other name
					meant.Marker, meant.From = asked.Marker, asked.From
					q.Request.Requirements[i] = meant
				}
			}
			w.Said = append(w.Said, fmt.Sprintf("%s names %s, and %s is meant: %s", like.From, like.Name, like.Meant, like.Why))
			continue
		}
		q.Request.AsNamed = append(q.Request.AsNamed, like.Name)
		w.Said = append(w.Said, fmt.Sprintf("%s names %s, which is no package that is known here, and like %s: it is taken as it is written",
			like.From, like.Name, like.Meant))
	}
}

// FurtherPackages reports whether packages beyond torch's own family stand on the command
// line: what they require decides with.
func (w Wish) FurtherPackages(r resolver.Request) bool {
	return len(w.Arguments) > 0 && slices.ContainsFunc(r.Requirements, func(q pep508.Requirement) bool {
		return !family(q) && q.URL == ""
	})
}

// AsRequest reads the wish, under the policy of the team. described says that the machine is
// described by flags or a file instead of being this one. Every malformed value is a usage error.
func (w Wish) AsRequest(described bool, today string, policy func() (*resolver.Policy, error)) (resolver.Request, error) {
	r, err := w.Parse()
	if err != nil {
		return r, err
	}
	r.Described, r.Today = described, today
	if r.Policy, err = policy(); err != nil {
		return r, err
	}
	if r.Requirements, err = w.requirements(); err != nil {
		return r, err
	}
	for _, q := range r.Requirements {
		if isEnvironment(q.From) { // a program such as git is conda's own, however a package of pip's is called
			r.AsNamed = append(r.AsNamed, q.Name)
		}
	}
	r.ProjectPython = w.demands
	switch {
	case w.demands != "":
	case w.Dir != "" || !described:
		r.ProjectPython = projectPython(cmp.Or(w.Dir, "."))
	default: // the directory that a question is asked in has no say, a file that is named has
		for _, path := range w.Files {
			r.ProjectPython = cmp.Or(r.ProjectPython, pythonOf("", strings.Split(path, "[")[0]))
		}
	}
	return r, nil
}

// requirements reads the positionals and the files of -r.
func (w Wish) requirements() ([]pep508.Requirement, error) {
	out, err := RequirementsOf(w.Arguments)
	if err != nil {
		return nil, err
	}
	for _, file := range w.Files {
		p, err := Read(file)
		if err != nil {
			return nil, err
		}
		if w.conda() {
			p.Below = nil
		}
		conda := slices.DeleteFunc(p.Indexed(), func(q pep508.Requirement) bool { // of two versions pip's, which comes after, stays
			return slices.ContainsFunc(p.Below, func(pip pep508.Requirement) bool { return pip.Name == q.Name })
		})
		out = slices.Concat(out, conda, p.Below)
	}
	return w.relaxed(append(out, w.documented...), text.Each(w.Relax, machine.NormalName))
}

// relaxed takes the versions off what files ask of the packages that any version of will do.
func (w Wish) relaxed(in []pep508.Requirement, names []string) ([]pep508.Requirement, error) {
	var open []string
	for i, q := range in {
		named := slices.Contains(names, q.Name)
		switch follows := slices.Contains(names, "torch") && family(q); {
		case q.From != "" && (named || follows):
			in[i] = pep508.Requirement{Name: q.Name, Extras: q.Extras, Marker: q.Marker, From: q.From}
			in[i].Text = in[i].Line()
			open = append(open, q.Name)
		case named && q.Spec.IsZero() && q.URL == "": // any version is what the command line asks for
			open = append(open, q.Name)
		}
	}
	for _, name := range names {
		if w.Lock != nil || !slices.Contains(open, name) {
			return nil, describe.BadValue("relax", name, "it loosens what a file of a project without a lock of its own tool asks for, and no such file that is followed names it")
		}
	}
	return in, nil
}

// RequirementsOf are the requirements that arguments are, of which none is a file.
func RequirementsOf(arguments []string) ([]pep508.Requirement, error) {
	for _, a := range arguments {
		if err := notAFile(a); err != nil {
			return nil, err
		}
	}
	return describe.Requirements(arguments)
}

// notAFile refuses an argument that names a file, such as requirements.txt: as a
// requirement it would be a package of that name (requirements-txt), which somebody
// may have made for those who mistype.
func notAFile(arg string) error {
	_, suffix, dotted := strings.Cut(arg, ".")
	// ruamel.yaml and discord.py are packages.
	known := dotted && slices.Contains([]string{"txt", "toml", "in", "lock", "md", "cfg"}, suffix)
	if info, err := os.Stat(arg); !known && (err != nil || !info.Mode().IsRegular() || !dotted) {
		return nil
	}
	return fail.Wrong(text.Cut(text.Escape(arg), 60)+" is the name of a file, not of a package",
		"`-r FILE` reads requirements from a file, or from a pyproject.toml", "a plan that `envfix plan --out` wrote ends in .json")
}
