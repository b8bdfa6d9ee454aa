package team

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/pep508"
)

// A Wish is what one call of `envfix lock` asks for.
type Wish struct {
	Requirements []string // PEP 508
	Files        []string // requirements files and pyproject.toml
	Targets      []lock.Target
	SameTorch    bool

	Upgrade       bool     // take the newest versions …
	Only          []string // … of these packages; empty: of all
	UpgradeMatrix bool     // choose torch again with this envfix's data
	Profile       string   // make only this one anew; "" all
	Offline       bool
	Mirrors       Mirrors
}

// input is what a lock is made from: the wish first, then envfix.toml, then what
// the present lock was made from. Files are read anew.
func (t *Team) input(w Wish, old *lock.Lock) (lock.Input, error) {
	in := lock.Input{SameTorch: w.SameTorch, Requirements: w.Requirements, Targets: w.Targets}
	team, err := t.wishes()
	if err != nil {
		return in, err
	}
	in.SameTorch = in.SameTorch || team.SameTorch
	files := w.Files
	if len(in.Requirements)+len(files) == 0 {
		in.Requirements, files = team.Requirements, team.Files
	}
	if len(in.Targets) == 0 {
		for name, facts := range team.Targets {
			in.Targets = append(in.Targets, lock.Target{Name: name, Facts: facts})
		}
	}
	if old != nil {
		in.SameTorch = in.SameTorch || old.Input.SameTorch
		if len(in.Requirements)+len(files) == 0 || w.Upgrade {
			in.Requirements, files = old.Input.Requirements, sourcePaths(old.Input.Sources)
		}
		if len(in.Targets) == 0 {
			in.Targets = old.Input.Targets
		}
	}
	if in.Sources, err = t.sources(files); err != nil {
		return in, err
	}
	in.Targets = slices.Clone(in.Targets)
	for i, t := range in.Targets {
		if facts, err := ParseFacts(t.Facts); err == nil {
			in.Targets[i].Facts = JoinFacts(facts) // what is wrong is said where targets are parsed
		}
	}
	in.Requirements = slices.Sorted(slices.Values(in.Requirements))
	slices.SortFunc(in.Targets, byName)
	if len(in.Requirements)+len(in.Sources) == 0 {
		in.Requirements = []string{"torch", "torchvision"}
	}
	if len(in.Targets) == 0 {
		return in, usage("a lock needs the kinds of machine that it is for",
			"`envfix lock --target v100=\"gpu=V100 driver=580 os=linux\" --target cpu=\"gpu=none\"`",
			"or write them under [targets] in "+lock.TeamFile)
	}
	return in, nil
}

// wishes reads envfix.toml.
func (t *Team) wishes() (lock.Team, error) {
	b, err := ReadFile(t.path(lock.TeamFile))
	if errors.Is(err, os.ErrNotExist) {
		return lock.Team{}, nil
	}
	var team lock.Team
	if err == nil {
		team, err = lock.DecodeTeam(b)
	}
	if err != nil {
		return team, failed(fail.Usage, err, "its keys are requirements, files, same-torch and [targets]")
	}
	return team, nil
}

// sources reads the requirements of each file, so that the lock's digest covers
// what they say and not where their comments stand.
func (t *Team) sources(files []string) ([]lock.Source, error) {
	var out []lock.Source
	for _, f := range files {
		path := f
		if !filepath.IsAbs(f) {
			path = t.path(f)
		}
		project, err := t.Project(path)
		if err != nil {
			return nil, err
		}
		s := lock.Source{Path: filepath.ToSlash(f)}
		for _, q := range project.Requirements {
			s.Requirements = append(s.Requirements, q.Text)
		}
		slices.Sort(s.Requirements)
		out = append(out, s)
	}
	return out, nil
}

func sourcePaths(sources []lock.Source) []string {
	var out []string
	for _, s := range sources {
		out = append(out, filepath.FromSlash(s.Path))
	}
	return out
}

// requirements parses everything that the lock must hold.
func requirements(in lock.Input) ([]pep508.Requirement, error) {
	texts := slices.Clone(in.Requirements)
	for _, s := range in.Sources {
		texts = append(texts, s.Requirements...)
	}
	var out []pep508.Requirement
	for _, text := range texts {
		q, err := Requirement(text)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// Requirement reads one PEP 508 requirement.
func Requirement(text string) (pep508.Requirement, error) {
	q, err := pep508.Parse(text, "")
	if err != nil {
		return q, failed(fail.Usage, err, "write a requirement such as `torch==2.9.*`, `torchvision` or `'vllm>=0.10'`")
	}
	return q, nil
}
