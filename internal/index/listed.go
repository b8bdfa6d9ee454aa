package index

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// Wheels looks for one wheel of each package, named with its version (2.15.0+cu130), that
// a Python (3.12, 3.14t) takes on a system, in the words of package matrix. What the index
// does not list is not in the answer. Its error says that the index did not tell.
func (c *Client) Wheels(ctx context.Context, versions map[string]string, python, os, arch string) (map[string]File, error) {
	names := slices.Collect(maps.Keys(versions))
	found, err := Each(ctx, len(names), func(ctx context.Context, i int) (File, error) {
		p, err := c.Project(ctx, names[i])
		if errors.Is(err, ErrNotFound) {
			return File{}, nil
		}
		if err != nil {
			return File{}, err
		}
		return p.wheel(versions[names[i]], python, os, arch), nil
	}, nil)
	out := map[string]File{}
	for _, f := range found {
		if n, ok := ParseName(f.Name); ok {
			out[n.Project] = f
		}
	}
	return out, err
}

// wheel is the file of a version that a Python takes on a system; none: it has no name.
func (p *Project) wheel(version, python, os, arch string) File {
	for _, f := range p.Files {
		n, ok := ParseName(f.Name)
		if !ok || f.Yanked || n.Version+"+"+n.Label != version && (n.Label != "" || n.Version != version) {
			continue
		}
		if i := n.Interpreter(); i != "" && i != python {
			continue
		}
		if o, a := n.Platform(); (o == "" || o == os) && (a == "" || a == arch) {
			return f
		}
	}
	return File{}
}
