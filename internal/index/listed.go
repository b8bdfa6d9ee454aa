package index

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// Wheels looks for one wheel of each package, named with its version (2.15.0+cu130), that
// a Python (3.12, 3.14t) takes on a system, in the words of package matrix. What the index
// does not list is not in the answer. Its error says that the index did not tell.
func (c *Client) Wheels(ctx context.Context, versions map[string]string, python, os, arch string) (map[string]File, error) {
	found, errs := make(chan File, len(versions)), errgroup.Group{}
	errs.SetLimit(MaxConnections)
	for name, v := range versions {
		errs.Go(func() error {
			p, err := c.Project(ctx, name)
			if errors.Is(err, ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			if f, ok := p.wheel(v, python, os, arch); ok {
				found <- f
			}
			return nil
		})
	}
	if err := errs.Wait(); err != nil {
		return nil, err
	}
	close(found)
	out := map[string]File{}
	for f := range found {
		n, _ := ParseName(f.Name)
		out[n.Project] = f
	}
	return out, nil
}

// wheel is the file of a version that a Python takes on a system.
func (p *Project) wheel(version, python, os, arch string) (File, bool) {
	for _, f := range p.Files {
		n, ok := ParseName(f.Name)
		if !ok || f.Yanked || n.Version+"+"+n.Label != version && (n.Label != "" || n.Version != version) {
			continue
		}
		if i := n.Interpreter(); i != "" && i != python {
			continue
		}
		if o, a := n.Platform(); (o == "" || o == os) && (a == "" || a == arch) {
			return f, true
		}
	}
	return File{}, false
}
