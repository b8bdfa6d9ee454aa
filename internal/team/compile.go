package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/system"
	"envfix/internal/xslices"
)

// atATime is how many times uv runs at once: it mostly waits for the index.
const atATime = 3

// compileAll resolves the packages of every draft with uv, and fills in digests,
// sizes and hosts. It returns the pylock bytes by profile name, and what uv warns of.
func (t *Team) compileAll(ctx context.Context, u uvTool, drafts []draft) (files map[string][]byte, notes []string, err error) {
	facts := newFileFacts(t.Matrix, u, t.allowed(u.mirrors))
	texts, said := make([][]byte, len(drafts)), make([][]string, len(drafts))
	on := t.underWay(len(drafts))
	err = InParallel(len(drafts), atATime, func(i int) (err error) {
		name := drafts[i].profile.Name
		on(name, true)
		if texts[i], said[i], err = t.compile(ctx, u, &drafts[i], facts); err != nil {
			err = inTarget(name, err)
		}
		on(name, false)
		return err
	})
	files = map[string][]byte{}
	for i, d := range drafts {
		files[d.profile.Name] = texts[i]
	}
	return files, xslices.Once(said...), err
}

// underWay returns what tells t.Progress of each target that begins or ends, and which
// are resolved meanwhile.
func (t *Team) underWay(total int) func(name string, begins bool) {
	var mu sync.Mutex
	var now []string
	done := 0
	return func(name string, begins bool) {
		mu.Lock()
		defer mu.Unlock()
		if begins {
			now = append(now, name)
		} else {
			now = slices.DeleteFunc(now, func(n string) bool { return n == name })
			done++
		}
		if t.Progress != nil {
			t.Progress(done, total, "resolving "+strings.Join(now, ", "))
		}
	}
}

// inTarget says which target an error is about.
func inTarget(name string, err error) error {
	if f, ok := errors.AsType[*fail.Error](err); ok {
		g := *f
		g.Text = "target " + name + ": " + f.Text
		return &g
	}
	return fmt.Errorf("target %s: %w", name, err)
}

func (t *Team) compile(ctx context.Context, u uvTool, d *draft, facts *fileFacts) ([]byte, []string, error) {
	platform, err := lock.UVPlatform(d.profile.Match)
	if err != nil {
		return nil, nil, fail.Wrap(fail.NoSolution, err)
	}
	d.job.Platform = platform
	answer, notes, err := u.compile(ctx, d.job, t.path(d.profile.Pylock.File))
	if err != nil {
		return nil, nil, err
	}
	packages, err := lock.ParseUV(answer, d.job.Indexes)
	if err == nil {
		err = t.local(packages)
	}
	if err != nil {
		return nil, nil, fail.Wrap(fail.NoSolution, err)
	}
	canonical(u.mirrors, packages)
	facts.said(packages)
	if err := facts.complete(ctx, packages); err != nil {
		return nil, nil, err
	}
	if err := admitted(packages, d.job.Hashes); err != nil {
		return nil, nil, err
	}
	doc := lock.Packages{LockVersion: "1.0", CreatedBy: "envfix", RequiresPython: "==" + d.job.Python + ".*",
		Environments: []string{lock.Markers(d.profile.Match, d.job.Python)}, Packages: packages}
	if err := t.mark(ctx, u, d.job, &doc); err != nil {
		return nil, nil, err
	}
	b, err := doc.Encode()
	if err != nil {
		return nil, nil, err
	}
	p := &d.profile
	torch := doc.Find("torch")
	if torch == nil {
		return nil, nil, fail.New(fail.NoSolution, "what is asked for brings no torch")
	}
	p.Torch = torch.Version
	p.Pylock.SHA256, p.Hosts, p.Size.Download = lock.Sum(b), doc.Hosts(), doc.Download()
	p.Indexes = slices.DeleteFunc(slices.Clone(d.job.Indexes), func(i lock.Index) bool { k := doc.Find(i.Package); return k == nil || k.Index != i.URL })
	return b, notes, nil
}

// local turns the paths of uv's answer into paths from the lock, and completes the
// files among them.
func (t *Team) local(packages []lock.Package) error {
	for i := range packages {
		k := &packages[i]
		switch {
		case k.Directory != nil:
			way, _, err := t.fromLock(k.Directory.Path)
			if err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			k.Directory.Path = way
		case k.Archive != nil && k.Archive.Path != "":
			size, sum, err := system.FileSum(k.Archive.Path)
			if err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			k.Archive.Size, k.Archive.Hashes.SHA256 = size, sum
			way, inside, _ := t.fromLock(k.Archive.Path)
			if !inside {
				return fmt.Errorf("%s: %w", k.Name, strange(way))
			}
			k.Archive.Path = way
		}
	}
	return nil
}

// admitted holds the files to the digests that a requirements file names.
func admitted(packages []lock.Package, hashes []string) error {
	admit := map[string][]string{}
	for _, h := range hashes {
		name, sum, _ := strings.Cut(h, " ")
		admit[name] = append(admit[name], sum)
	}
	for _, k := range packages {
		for _, w := range k.Files() {
			if list := admit[k.Name]; len(list) > 0 && !slices.Contains(list, w.Hashes.SHA256) {
				return fail.New(fail.Integrity, fmt.Sprintf("%s: its sha256 is %s, and the requirements admit only %s", w.Name, w.Hashes.SHA256, strings.Join(list, ", ")),
					"take the --hash of the file that the index has now, if you trust it, or take the hashes out: the lock has its own")
			}
		}
	}
	return nil
}
