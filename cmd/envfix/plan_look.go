package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/maintain"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// How long an index may take to tell, and how long what it told counts; where it did not
// answer, it is asked again sooner.
const (
	lookFor  = 3 * time.Second
	heldFor  = 24 * time.Hour
	deadFor  = 10 * time.Minute
	keepLook = "listed"
)

// A look is what an index was found to list.
type look struct {
	At     time.Time
	Listed *resolver.Listed // nil: not the wheels that were looked for
}

// alone reports whether nothing may be asked of a network.
func (f planFlags) alone(q planning.Question) bool {
	return f.target.quick || q.Target.Offline || os.Getenv("ENVFIX_QUICK") != "" || os.Getenv("UV_OFFLINE") != ""
}

// A reading is what the default index was found to have of a package.
type reading struct {
	At   time.Time
	Page *index.Project // nil: it has none, or did not answer
	Code *index.Code    // of its newest wheel here; nil: none could be read
}

// What reading a package may take.
const (
	readFor  = 10 * time.Second
	readMost = 32 << 20 // bytes of libraries
)

// read asks the default index about packages that the data does not know, once a day; nil
// where nothing may be asked.
func (f planFlags) read(ctx context.Context, q planning.Question, ask bool) func(pep508.Requirement) matrix.Read {
	if f.alone(q) {
		return nil
	}
	dir, _ := os.UserCacheDir()
	dir = filepath.Join(dir, "envfix", "read")
	address, platform := team.DefaultIndex(plan.ParseMirrors(q.Target.Mirrors)), q.Machine.Platform
	return func(r pep508.Requirement) (out matrix.Read) {
		key := system.Key(buildVersion, address, r.Name, r.Spec.String(), q.Request.Python, platform)
		got := system.Kept[reading](dir, key)
		if got == nil || time.Since(got.At) > heldFor {
			if !ask {
				return out
			}
			got = readOn(ctx, address, r, q.Request.Python, platform)
			_ = system.KeepAnswer(dir, key, got)
		}
		if got.Page != nil {
			out.Files = got.Page.Rows()
		}
		if got.Code != nil {
			e, f := got.Code.Rows(q.Matrix, got.Code.File+", read "+got.At.Format(time.DateOnly))
			out.Extensions = append(out.Extensions, e)
			if f != nil {
				out.Frameworks = append(out.Frameworks, *f)
			}
		}
		return out
	}
}

// readOn reads the page of a package, and its newest wheel for a Python and a system.
func readOn(ctx context.Context, address string, r pep508.Requirement, python string, h machine.Platform) *reading {
	got := &reading{At: time.Now()}
	ctx, stop := context.WithTimeout(ctx, readFor)
	defer stop()
	x, err := maintain.Open(ctx, address)
	if err != nil {
		return got
	}
	if got.Page, err = x.Project(ctx, r.Name); err != nil {
		return got
	}
	if file, _, ok := got.Page.NewestFor(r.Spec, python, h); ok {
		got.Code, _ = x.Code(ctx, file, readMost) // what could not be read is not known
	}
	return got
}

// looks at the page of an index for wheels that the data does not know; nil where nothing
// may be asked. Only a plan asks the network: others say what one was told.
func (f planFlags) look(ctx context.Context, q planning.Question, ask bool) func(*resolver.Choice) (*resolver.Listed, bool) {
	if f.alone(q) {
		return nil
	}
	dir, _ := os.UserCacheDir()
	dir = filepath.Join(dir, "envfix", keepLook)
	platform, mirrors := q.Machine.Platform, q.Target.Mirrors
	if p := q.Request.Policy; p != nil {
		mirrors = slices.Concat(mirrors, p.Mirrors)
	}
	return func(c *resolver.Choice) (*resolver.Listed, bool) {
		address, wheels := plan.ParseMirrors(mirrors).There(*c.Index), map[string]string{}
		for name, v := range c.Packages {
			if _, label := version.SplitLocal(v); label != "" || name == "torch" {
				wheels[name] = v
			}
		}
		key, dead := system.Key(address, wheels, c.Python, platform), system.Key(address)
		if l := system.Kept[look](dir, key); l != nil && time.Since(l.At) < heldFor {
			return l.Listed, true
		}
		if l := system.Kept[look](dir, dead); !ask || l != nil && time.Since(l.At) < deadFor {
			return nil, false
		}
		ctx, stop := context.WithTimeout(ctx, lookFor)
		defer stop()
		l := look{At: time.Now()}
		client, err := index.New(address, index.Options{Stall: lookFor})
		if err != nil {
			return nil, false
		}
		files, err := client.Wheels(ctx, wheels, c.Python, platform.OS, platform.Arch)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, false
		case err != nil:
			_ = system.KeepAnswer(dir, dead, l)
			return nil, false
		case len(files) == len(wheels):
			torch := files["torch"]
			l.Listed = &resolver.Listed{Index: client.Address(), File: torch.Name, SHA256: torch.SHA256, Day: cmp.Or(q.Request.Today, today())}
		}
		_ = system.KeepAnswer(dir, key, l)
		return l.Listed, true
	}
}
