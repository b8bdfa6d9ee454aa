package installers

import (
	"slices"

	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A VariantForce is what uv's provider of NVIDIA's variants is told instead of what it
// would find out: the CUDA of the driver, and the compute capability. Both are needed;
// with one alone the provider answers nothing, and uv takes the null variant: a CPU
// build, silently.
type VariantForce struct {
	CUDA string // major.minor
	SM   machine.SM
}

// The variables that force uv's provider (uv 0.13.6 and later).
const (
	VariantCUDA = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
	VariantSM   = "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"
)

// Variant returns what makes uv's preview of wheel variants (drafts PEP 825 and 850)
// choose the build, with one of the machine's capabilities where one does; false where
// nothing does: only CUDA builds are variants, and two for one CUDA cannot be told
// apart.
func Variant(b *matrix.Build, sms []machine.SM) (VariantForce, bool) {
	if b.CUDA.IsZero() {
		return VariantForce{}, false
	}
	for _, c := range b.Native {
		if c.Suffix == "" {
			sms = append(sms, c.SM)
		}
	}
	for _, sm := range sms {
		f := VariantForce{b.CUDA.MajorMinor(), sm}
		if chosen, alone := variantFor(siblings(b), f); chosen == b && alone {
			return f, true
		}
	}
	return VariantForce{}, false
}

// siblings are the CUDA builds of the same release for the same platform: the
// variants among which uv chooses.
func siblings(b *matrix.Build) []*matrix.Build {
	return xslices.Filter(b.Release.Builds, func(s *matrix.Build) bool { return s.OS == b.OS && s.Arch == b.Arch && !s.CUDA.IsZero() })
}

// variantFor is the rule of uv's provider (nvidia-variant-provider 0.0.1): a variant
// counts whose lower bound of CUDA the driver reaches and that has code for the
// capability; of those the highest lower bound wins. nil: the null variant. alone:
// no other has the same bound.
func variantFor(builds []*matrix.Build, f VariantForce) (best *matrix.Build, alone bool) {
	driver := version.MustDotted(f.CUDA)
	for _, b := range builds {
		bound := version.MustDotted(b.CUDA.MajorMinor())
		if driver.Less(bound) || !variantCode(b, f.SM) {
			continue
		}
		order := 1
		if best != nil {
			order = bound.Compare(version.MustDotted(best.CUDA.MajorMinor()))
		}
		switch {
		case order > 0:
			best, alone = b, true
		case order == 0:
			alone = false
		}
	}
	return best, alone
}

// variantCode is the provider's idea of code that runs: X.0 … X.y of the same major
// version as cubins, X.0 as PTX. PyTorch's own exceptions (8.7, 7.2 …) are not in it.
func variantCode(b *matrix.Build, sm machine.SM) bool {
	real := func(c matrix.Code) bool { return c.Suffix == "" && c.SM.Major == sm.Major && c.SM.Minor <= sm.Minor }
	virtual := func(c matrix.Code) bool { return c.Suffix == "" && c.SM == machine.SM{Major: sm.Major} }
	return slices.ContainsFunc(b.Native, real) || slices.ContainsFunc(b.PTX, virtual)
}
