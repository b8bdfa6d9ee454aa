package team

import (
	"context"
	"errors"
	"fmt"

	"envfix/internal/fail"
	"envfix/internal/lock"
)

// atATime is how many times uv runs at once: it mostly waits for the index.
const atATime = 3

// compileAll resolves the packages of every draft with uv, and fills in digests,
// sizes and hosts. It returns the pylock bytes by profile name.
func (t *Team) compileAll(ctx context.Context, u uvTool, drafts []draft) (map[string][]byte, error) {
	facts := newFileFacts(t.Matrix, u.mirrors.there)
	texts := make([][]byte, len(drafts))
	err := inParallel(len(drafts), atATime, func(i int) (err error) {
		if texts[i], err = t.compile(ctx, u, &drafts[i], facts); err != nil {
			err = inTarget(drafts[i].profile.Name, err)
		}
		return err
	})
	out := map[string][]byte{}
	for i, d := range drafts {
		out[d.profile.Name] = texts[i]
	}
	return out, err
}

// inTarget says which target an error is about.
func inTarget(name string, err error) error {
	var f *fail.Error
	if errors.As(err, &f) {
		g := *f
		g.Text = "target " + name + ": " + f.Text
		return &g
	}
	return fmt.Errorf("target %s: %w", name, err)
}

func (t *Team) compile(ctx context.Context, u uvTool, d *draft, facts *fileFacts) ([]byte, error) {
	platform, err := lock.UVPlatform(d.profile.Match)
	if err != nil {
		return nil, &fail.Error{Code: fail.NoSolution, Text: err.Error(), Err: err}
	}
	d.job.Platform = platform
	text, err := u.compile(ctx, d.job, t.path(d.profile.Pylock.File))
	if err != nil {
		return nil, err
	}
	packages, err := lock.ParseUV(text, d.job.Indexes)
	if err != nil {
		return nil, &fail.Error{Code: fail.NoSolution, Text: clean(err.Error()), Err: err,
			Hints: []string{"envfix locks wheels only; pin a version that has one for this target"}}
	}
	u.mirrors.canonical(packages)
	if err := facts.complete(ctx, packages); err != nil {
		return nil, err
	}
	doc := lock.Packages{LockVersion: "1.0", CreatedBy: "envfix", RequiresPython: "==" + d.job.Python + ".*",
		Environments: []string{lock.Markers(d.profile.Match, d.job.Python)}, Packages: packages}
	b, err := doc.Encode()
	if err != nil {
		return nil, err
	}
	p := &d.profile
	p.Torch = doc.Find("torch").Version
	p.Pylock.SHA256, p.Hosts, p.Size.Download = lock.Sum(b), doc.Hosts(), doc.Download()
	return b, nil
}
