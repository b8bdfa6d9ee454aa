package team

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// A Result is a lock that was written, and what a person should know of it.
type Result struct {
	Lock    *lock.Lock
	Edits   []string // what was changed in the wishes
	Changes []string // in what the lock differs from the one before it
	Removed []string // pylock files of targets that are gone
	Notes   []string // yanked releases, files that were not as the lock said, what Git should be told
}

// Lock makes the lock of what is wished for, and writes it with its pylock files and
// the wishes that the call changed. old is the present lock, nil where there is none
// or it cannot be read.
func (t *Team) Lock(ctx context.Context, ask Wish, old *lock.Lock) (*Result, error) {
	w, in, err := t.asked(&ask, old)
	if err != nil {
		return nil, err
	}
	if err := t.knownNames(ask, in, old); err != nil {
		return nil, err
	}
	hold := t.held(ask, old)
	m := &making{ask: ask, in: in, old: old, basis: basis{hold: hold, keep: old}}
	if ask.Upgrade && len(ask.Only) == 0 || ask.UpgradeMatrix {
		m.basis.keep = nil
	}
	m.before = t.packagesOf(old)
	if err := m.make(ctx, t); err != nil {
		if err = t.olderPython(ctx, m, err); err != nil {
			return nil, err
		}
	}
	l := &lock.Lock{Schema: lock.Schema, RequiresEnvfix: ">=" + Release(t.Build),
		Matrix: lock.Matrix{Version: t.Matrix.Version, SHA256: t.Matrix.SHA256}, Input: in}
	if hold != nil {
		l.Matrix = old.Matrix
	}
	l.Profiles = append(l.Profiles, text.Each(m.drafts, func(d draft) lock.Profile { return d.profile })...)
	l.Profiles = append(l.Profiles, m.kept...)
	r := &Result{Lock: l, Edits: w.edits, Notes: m.notes}
	if old == nil {
		r.Notes = append(r.Notes, t.defaultedPythons(m.drafts)...)
	}
	if old == nil || fromWindows(t.path(lock.File)) {
		r.Notes = append(r.Notes, t.gitNotes(ctx)...)
	}
	r.Notes = append(r.Notes, w.unfollowed...)
	if len(w.edits) > 0 {
		if err := writeFile(t.path(w.file), w.text); err != nil {
			return nil, err
		}
	}
	if r.Removed, err = t.Write(l, m.files); err != nil {
		return nil, err
	}
	if old != nil {
		after := t.packagesOf(l)
		r.Changes = lock.Diff(old, l, func(k *lock.Lock, profile string) *lock.Packages {
			if k == old {
				return m.before[profile]
			}
			return after[profile]
		})
	}
	return r, nil
}

// keepDays pins what a channel's profile leaves open to the day that is locked, unless
// the call upgrades it. uv's own preference for what is locked does not do: a mirror is
// another index to it.
func keepDays(drafts []draft, before map[string]*lock.Packages, ask Wish) {
	for _, d := range drafts {
		locked := before[d.profile.Name]
		if locked == nil || ask.UpgradeMatrix || ask.Upgrade && len(ask.Only) == 0 {
			continue
		}
		for i, q := range d.job.Requirements {
			name, open := strings.CutSuffix(q, anyDay)
			if k := locked.Find(name); open && k != nil && !slices.Contains(ask.Only, name) &&
				slices.Contains(d.job.Indexes, lock.Index{Package: name, URL: k.Index}) {
				d.job.Requirements[i] = name + "==" + k.Version
			}
		}
	}
}

// A making is one attempt at the profiles of a lock.
type making struct {
	ask   Wish
	in    lock.Input
	old   *lock.Lock
	basis basis

	before map[string]*lock.Packages // of old, by profile
	drafts []draft
	kept   []lock.Profile // that --profile left as they were
	files  map[string][]byte
	notes  []string
}

// make chooses the builds and resolves their packages.
func (m *making) make(ctx context.Context, t *Team) (err error) {
	if m.drafts, err = t.drafts(m.in, m.basis); err != nil {
		return err
	}
	if m.drafts, m.kept, err = onlyProfile(m.ask.Profile, m.drafts, m.old, m.in); err != nil {
		return err
	}
	if err := m.reachable(ctx); err != nil {
		return err
	}
	u, err := t.uv(ctx, m.ask, m.in)
	if err != nil {
		return err
	}
	keepDays(m.drafts, m.before, m.ask)
	if m.files, m.notes, err = t.compileAll(ctx, u, m.drafts); err != nil {
		return err
	}
	return forbidden(m.in.Policy, m.files)
}

// packagesOf reads the pylock files of a lock; those that are not the lock's are left
// out.
func (t *Team) packagesOf(l *lock.Lock) map[string]*lock.Packages {
	out := map[string]*lock.Packages{}
	if l == nil {
		return out
	}
	for i := range l.Profiles {
		if k, err := t.Packages(&l.Profiles[i]); err == nil {
			out[l.Profiles[i].Name] = k
		}
	}
	return out
}

// knownNames refuses to upgrade what neither the wishes nor the lock name.
func (t *Team) knownNames(ask Wish, in lock.Input, old *lock.Lock) error {
	wish, _, err := wished(in)
	if err != nil {
		return err
	}
	locked := t.packagesOf(old)
	for _, text := range ask.Only {
		q, err := describe.Requirement(text)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(wish, func(w pep508.Requirement) bool { return w.Name == q.Name })
		for _, k := range locked {
			known = known || k.Find(q.Name) != nil
		}
		if !known {
			return fail.Wrong("`--upgrade "+clean(text)+"`: neither what is asked for nor the lock has a package of that name", "`envfix lock show` lists both")
		}
	}
	return nil
}

// onlyProfile leaves the named profile's draft and returns the other profiles as
// they are in the present lock, which must have been made from the same input.
func onlyProfile(name string, drafts []draft, old *lock.Lock, in lock.Input) ([]draft, []lock.Profile, error) {
	if name == "" {
		return drafts, nil, nil
	}
	if old == nil {
		return nil, nil, fail.Wrong("`--profile` makes one profile of a lock anew, and there is no " + lock.File + " here")
	}
	if _, err := old.Profile(name); err != nil {
		return nil, nil, fail.Wrap(fail.Usage, err)
	}
	if changes := inputChanges(old.Input, in); len(changes) > 0 {
		return nil, nil, &fail.Error{Code: fail.Usage, Text: "the other profiles would no longer fit what is asked for", Details: changes,
			Hints: []string{"drop `--profile`: then all are made anew"}}
	}
	drafts = slices.DeleteFunc(drafts, func(d draft) bool { return d.profile.Name != name })
	kept := slices.DeleteFunc(slices.Clone(old.Profiles), func(p lock.Profile) bool { return p.Name == name })
	return drafts, kept, nil
}

// held returns the lock whose choices stay: with another matrix than the lock was
// made from, torch changes only with --upgrade-matrix.
func (t *Team) held(w Wish, old *lock.Lock) *lock.Lock {
	if old == nil || w.UpgradeMatrix || old.Matrix.SHA256 == t.Matrix.SHA256 {
		return nil
	}
	return old
}

// drafts chooses a build for each target of the input.
func (t *Team) drafts(in lock.Input, b basis) ([]draft, error) {
	var targets []target
	for _, k := range in.Targets {
		parsed, err := t.target(k.Name, k.Facts, in)
		if err != nil {
			return nil, err
		}
		if !parsed.named {
			parsed.request.Python = b.pythonOf(k.Name, parsed.request.ProjectPython)
			if parsed.request.Python == "" && t.Pythons != nil && !b.anyPython {
				parsed.machine.Pythons = t.Pythons()
			}
		}
		b.keepTorch(&parsed, k.Name)
		targets = append(targets, parsed)
	}
	wish, base, err := wished(in)
	if err != nil {
		return nil, err
	}
	drafts, err := choose(t.Matrix, targets, append(wish, t.localWishes(in)...), in.SameTorch)
	if err != nil {
		return nil, err
	}
	for i := range drafts {
		j := &drafts[i].job
		j.Groups = in.Groups
		if len(in.Groups) > 0 {
			j.Always = always(j.Requirements, append(base, t.localWishes(in)...), in.Groups)
		}
		t.complete(j, in)
	}
	return drafts, distinct(drafts)
}

// keepTorch pins the torch that the lock in force gives that profile, where no other is pinned.
func (b basis) keepTorch(to *target, name string) {
	if b.hold == nil || to.pin != "" {
		return
	}
	if p, err := b.hold.Profile(name); err == nil {
		public, _ := version.SplitLocal(p.Torch)
		to.pin = "==" + public
		if p.Match.GPU != "none" || p.Build == "cpu" { // nobody asks for CUDA where there is no GPU
			to.request.Build = p.Build
		}
	}
}

// localWishes are what the projects beside the lock ask of torch: uv would find out
// only after a build was chosen.
func (t *Team) localWishes(in lock.Input) []pep508.Requirement {
	var out []pep508.Requirement
	for _, s := range in.Sources {
		for _, line := range s.Places {
			dir, ok := strings.CutPrefix(strings.TrimPrefix(line, "-e "), "./")
			if !ok {
				continue
			}
			dir, _, _ = strings.Cut(dir, " ;")
			p, err := t.Project(t.path(dir + "/pyproject.toml"))
			if err != nil {
				continue // it has none, or uv says what is wrong with it
			}
			for _, q := range p.Requirements {
				if slices.Contains(family, q.Name) && q.Marker == "" {
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// complete adds to a job what the input says beside requirements.
func (t *Team) complete(j *lock.Job, in lock.Input) {
	j.Constraints = slices.Clone(in.Constraints)
	j.Requirements = slices.DeleteFunc(j.Requirements, func(text string) bool {
		q, err := pep508.Parse(text, "")
		path, local := strings.CutPrefix(q.URL, "file:")
		if err == nil && local {
			j.Places = append(j.Places, t.absolute("./"+path)+say.With(" ; ", q.Marker, ""))
		}
		return local
	})
	j.Names = indexNames(in)
	for _, s := range in.Sources {
		j.Constraints = append(j.Constraints, s.Constraints...)
		j.Overrides = append(j.Overrides, s.Overrides...)
		j.Places = append(j.Places, text.Each(s.Places, t.absolute)...)
		j.Hashes = append(j.Hashes, s.Hashes...)
		for _, o := range s.Options {
			j.Options = xslices.Add(j.Options, o)
		}
	}
	for _, i := range in.Indexes {
		for _, p := range i.Packages {
			j.Indexes = append(j.Indexes, lock.Index{Package: machine.NormalName(p), URL: i.URL})
		}
	}
	j.Build = in.Build
}

// indexNames are the names that people gave indexes, by URL: uv's variables for
// passwords hold them.
func indexNames(in lock.Input) map[string]string {
	names := map[string]string{}
	for _, i := range in.Indexes {
		names[i.URL] = i.Name
	}
	return names
}

// absolute is a line of a place with its path from the root: uv reads it elsewhere.
func (t *Team) absolute(line string) string {
	flag, rest := "", line
	if after, ok := strings.CutPrefix(line, "-e "); ok {
		flag, rest = "-e ", after
	}
	path, marker, _ := strings.Cut(rest, " ; ")
	if !strings.HasPrefix(path, "./") {
		return line
	}
	whole, err := filepath.Abs(t.path(filepath.FromSlash(path)))
	return say.Either(err != nil, line, flag+whole+say.With(" ; ", marker, ""))
}
