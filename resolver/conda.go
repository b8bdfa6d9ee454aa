package resolver

import (
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/version"
	"envfix/matrix"
)

// condaBuilds are the builds of the conda channels in the form of wheels, so
// that the same rules judge them: the channel stands for the index, conda-forge
// for the default one. What their CUDA libraries serve was not read.
func condaBuilds(m *matrix.Matrix, p machine.Platform) (out []*matrix.Build) {
	byTorch := map[string]*matrix.Release{}
	for i := range m.Conda {
		c := &m.Conda[i]
		if c.OS != p.OS || c.Arch != p.Arch {
			continue
		}
		r := byTorch[c.Torch.String()]
		if r == nil {
			r = &matrix.Release{Torch: c.Torch}
			if known, ok := m.Release(c.Torch.String()); ok {
				r.Date, r.Companions = known.Date, known.Companions
			}
			byTorch[c.Torch.String()] = r
		}
		b := &matrix.Build{
			Release: r, Label: condaLabel(c), OS: c.OS, Arch: c.Arch, CUDA: c.CUDA, Native: c.Native, PTX: c.PTX,
			Index: c.Channel, Default: c.Channel == managers.CondaForge, PythonMin: c.PythonMin, PythonMax: c.PythonMax,
			Glibc: c.Glibc, Status: matrix.Offered, Source: c.Source, Notes: c.Note}
		if c.Channel == managers.CondaPyTorch {
			b.CuDNN = wheelCuDNN(m, b)
		}
		out = append(out, b)
	}
	slices.SortStableFunc(out, func(a, b *matrix.Build) int { return b.Release.Torch.Compare(a.Release.Torch) })
	return out
}

// wheelCuDNN is the cuDNN of the wheel of the same release and CUDA: the packages
// of the pytorch channel were built beside the wheels, with the same cuDNN inside
// (pytorch/builder common/install_cuda.sh, which both call).
func wheelCuDNN(m *matrix.Matrix, b *matrix.Build) version.Dotted {
	if w, ok := m.BuildOf(b.Release.Torch.String(), b.Label, b.OS, b.Arch); ok {
		return w.CuDNN
	}
	return version.Dotted{}
}

// condaLabel names a conda build as its wheel would be named: cu129, cpu, mps.
func condaLabel(c *matrix.CondaBuild) string {
	switch {
	case !c.CUDA.IsZero():
		return "cu" + strings.Replace(c.CUDA.MajorMinor(), ".", "", 1)
	case c.OS == "macos" && c.Arch == "arm64":
		return mps
	}
	return cpu
}

func isConda(b *matrix.Build) bool {
	return b.Index == managers.CondaForge || b.Index == managers.CondaPyTorch
}
