package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/index"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/propose"
	"envfix/internal/version"
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

// looks at the page of an index for wheels that the data does not know; nil where nothing
// may be asked. Only a plan asks the network: others say what one was told.
func (f planFlags) look(ctx context.Context, q planning.Question, ask bool) func(*resolver.Choice) (*resolver.Listed, bool) {
	if f.target.quick || q.Target.Offline || os.Getenv("ENVFIX_QUICK") != "" || os.Getenv("UV_OFFLINE") != "" {
		return nil
	}
	dir, _ := os.UserCacheDir()
	dir = filepath.Join(dir, "envfix", keepLook)
	platform, mirrors := q.Machine.Platform, q.Target.Mirrors
	if p := q.Request.Policy; p != nil {
		mirrors = slices.Concat(mirrors, p.Mirrors)
	}
	return func(c *resolver.Choice) (*resolver.Listed, bool) {
		address, wheels := *c.Index, map[string]string{}
		for _, pair := range mirrors {
			from, to, _ := strings.Cut(pair, "=")
			if there, ok := plan.Moved(address, from, to); ok {
				address = there
				break
			}
		}
		for name, v := range c.Packages {
			if _, label := version.SplitLocal(v); label != "" || name == "torch" {
				wheels[name] = v
			}
		}
		key, dead := propose.Key(address, wheels, c.Python, platform), propose.Key(address)
		if l := propose.Kept[look](dir, key); l != nil && time.Since(l.At) < heldFor {
			return l.Listed, true
		}
		if l := propose.Kept[look](dir, dead); !ask || l != nil && time.Since(l.At) < deadFor {
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
			propose.Keep(dir, dead, l)
			return nil, false
		case len(files) == len(wheels):
			torch := files["torch"]
			l.Listed = &resolver.Listed{Index: client.Address(), File: torch.Name, SHA256: torch.SHA256, Day: cmp.Or(q.Request.Today, today())}
		}
		propose.Keep(dir, key, l)
		return l.Listed, true
	}
}
