package index

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// ProveCode reads again the wheels of a package that rows of the data tell of by their
// bytes, as a harvest does, and compares what they say.
func (c *Client) ProveCode(ctx context.Context, m *matrix.Matrix, name string, of version.Specifier,
	progress func(done, total int, file string)) ([]Proof, error) {
	row := func(v version.Python, os, arch string) (matrix.Extension, bool) {
		return xslices.Find(m.Extensions, func(e matrix.Extension) bool {
			return e.Package == name && e.Version.Compare(v) == 0 && e.OS == os && e.Arch == arch && e.Proof == matrix.ByWheel && len(e.TorchLabels) == 0
		})
	}
	codes, err := c.Codes(ctx, name, "", func(v version.Python, os, arch string) bool {
		_, ok := row(v, os, arch)
		return !ok || !of.Admits(v)
	}, progress)
	if err != nil {
		return nil, err
	}
	var out []Proof
	for _, k := range codes {
		wheel, _ := k.Rows(m, "")
		e, _ := row(wheel.Version, k.OS, k.Arch)
		p := Proof{Torch: k.Version, OS: k.OS, Arch: k.Arch, Build: name, File: k.File, By: "bytes", Source: e.Source}
		check := func(field, row, wheel string, same bool) {
			p.Checks = append(p.Checks, Check{Field: field, Row: row, Wheel: wheel, Verdict: verdict(same)})
		}
		check("torch", e.Torch.String(), wheel.Torch.String(), !slices.ContainsFunc(m.Releases, func(r *matrix.Release) bool {
			return e.Torch.Admits(r.Torch) != wheel.Torch.Admits(r.Torch)
		}))
		major, _, _ := strings.Cut(e.CUDA, ".")
		check("cuda", e.CUDA, wheel.CUDA, major == wheel.CUDA)
		if len(e.Native) > 0 && len(wheel.Native) > 0 {
			check("cubins", matrix.Codes(e.Native), matrix.Codes(wheel.Native), matrix.Codes(e.Native) == matrix.Codes(wheel.Native))
		}
		p.Verdict = worst(p.Checks)
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Proof) int { return cmp.Compare(a.OS+a.Arch, b.OS+b.Arch) })
	return out, nil
}
