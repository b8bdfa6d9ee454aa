package installers

import (
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// InstalledFixes is [EnvFixes] for the torch that is installed in the
// environment of the facts, where one is.
func InstalledFixes(m *matrix.Matrix, h machine.Machine) []plan.EnvFix {
	res := &resolver.Resolution{Decision: resolver.Install}
	for _, p := range h.Installed {
		if p.Name != "torch" {
			continue
		}
		public, label, _ := strings.Cut(p.Version, "+")
		c := &resolver.Choice{Torch: public, Build: label, Channel: "pip"}
		if p.CUDA != nil {
			c.CUDA = *p.CUDA
		}
		if b, ok := installedBuild(m, h, public, label, c.CUDA); ok {
			c.Build, c.CuDNN = b.Label, b.CuDNN.String()
		}
		res.Choice = c
	}
	return EnvFixes(m, h, resolver.Request{}, res)
}

// installedBuild finds the matrix row of an installed torch; a wheel of the
// default index carries no label, and its CUDA tells the build.
func installedBuild(m *matrix.Matrix, h machine.Machine, public, label, cuda string) (*matrix.Build, bool) {
	rel, ok := m.Release(public)
	if !ok {
		return nil, false
	}
	return xslices.Find(rel.Builds, func(b *matrix.Build) bool {
		return b.OS == h.Platform.OS && b.Arch == h.Platform.Arch && (b.Label == label || label == "" && b.Default && b.CUDA.MajorMinor() == cuda)
	})
}
