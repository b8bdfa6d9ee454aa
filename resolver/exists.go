package resolver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// nonexistent says that a torch, a CUDA or a build that was asked for was published for
// no system at all, what there is, and which of it is nearest; "" it exists.
func (s naming) nonexistent() string {
	all := s.p.m.Releases
	if len(all) == 0 || s.p.lead != "" {
		return ""
	}
	if s.p.req.Channel != "" {
		return s.released()
	}
	if len(s.p.req.torch) > 0 && !slices.ContainsFunc(all, func(r *matrix.Release) bool { return s.p.admitsTorch(r.Torch) }) {
		if pin, err := version.ParsePython(s.p.req.exactTorch()); err == nil && pin.Compare(all[len(all)-1].Torch) < 0 {
			return fmt.Sprintf("`%s` is older than the data, which begin with torch %s: what it runs on is not known here", s.p.req.torchText(), all[len(all)-1].Torch)
		}
		return fmt.Sprintf(
			"no release of torch is what `%s` asks for: those known are %s to %s (data of %s)%s",
			s.p.req.torchText(), all[len(all)-1].Torch, all[0].Torch, s.p.m.Date, s.besidePin())
	}
	if s.p.req.conda() {
		return "" // its channels have builds under labels of their own
	}
	return cmp.Or(s.noSuchCUDA(), s.noSuchBuild())
}

// noSuchCUDA says that no build is made with the CUDA that was asked for.
func (s naming) noSuchCUDA() string {
	list := s.cudas()
	switch {
	case !strings.Contains(s.p.req.CUDA, "."), slices.Contains(list, s.p.req.CUDA):
		return ""
	case len(list) == 0:
		return fmt.Sprintf("no build of torch is made with CUDA %s for %s %s, nor with any other", s.p.req.CUDA, s.p.h.Platform.OS, s.p.h.Platform.Arch)
	}
	return fmt.Sprintf("no build of torch is made with CUDA %s: there are %s", s.p.req.CUDA, strings.Join(list, ", "))
}

// noSuchBuild says that no build has the label that was asked for.
func (s naming) noSuchBuild() string {
	list := s.labels()
	if s.p.req.Build == "" || s.p.req.conflict != "" || slices.Contains(list, s.p.req.Build) {
		return ""
	}
	return fmt.Sprintf("torch has no build `%s` for %s %s: there are %s", s.p.req.Build, s.p.h.Platform.OS, s.p.h.Platform.Arch,
		cmp.Or(strings.Join(list, ", "), "none"))
}

// released says that what is asked of a channel is a release; "" it is not known as one.
func (s naming) released() string {
	pin, err := version.ParsePython(s.p.req.exactTorch())
	if err != nil || s.p.req.conflict != "" {
		return ""
	}
	if r, known := s.p.m.Release(pin.String()); known {
		return fmt.Sprintf("torch %s is released (%s), and the %s channel has what is not yet", r.Torch, r.Date, s.p.req.Channel)
	}
	return ""
}

// besidePin names the releases on both sides of a torch that is pinned and not known; ""
// it is not pinned.
func (s naming) besidePin() string {
	pin, err := version.ParsePython(s.p.req.exactTorch())
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(s.p.m.Releases, func(r *matrix.Release) bool { return r.Torch.Compare(pin) < 0 }) // the newest first
	switch {
	case i == 0:
		return fmt.Sprintf("; the nearest is %s", s.p.m.Releases[0].Torch)
	case i > 0:
		return fmt.Sprintf("; the nearest are %s and %s", s.p.m.Releases[i].Torch, s.p.m.Releases[i-1].Torch)
	}
	return ""
}

// cudas are the CUDAs that builds for this system are made with, newest first.
func (s naming) cudas() []string {
	made := xslices.Filter(s.p.cache.wheels, func(b *matrix.Build) bool { return !b.CUDA.IsZero() })
	slices.SortFunc(made, func(a, b *matrix.Build) int { return b.CUDA.Compare(a.CUDA) })
	return xslices.Once(text.Each(made, func(b *matrix.Build) string { return b.CUDA.MajorMinor() }))
}

// labels are the builds for this system, by what they are for and the newest first.
func (s naming) labels() []string {
	out := xslices.Once(text.Each(s.p.cache.wheels, func(b *matrix.Build) string { return b.Label }))
	kinds := []string{cuda, rocm, xpu, mps, cpu}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(slices.Index(kinds, accelOf(a))-slices.Index(kinds, accelOf(b)), strings.Compare(b, a))
	})
	return out
}

// nearestAsk are the CUDA and the build next to what was asked for and does not exist.
func (s naming) nearestAsk() (cudaAsk, build string) {
	if s.p.req.CUDA != "" {
		cudaAsk = closest(s.cudas(), s.p.req.cudaV)
	}
	if v, ok := matrix.LabelCUDA(s.p.req.Build); ok {
		if near := closest(s.cudas(), v); near != "" {
			build = "cu" + strings.ReplaceAll(near, ".", "")
		}
	}
	return cudaAsk, build
}

// closest is the version of a list, newest first, that is the next one below v, else
// the oldest.
func closest(list []string, v version.Dotted) string {
	for _, text := range list {
		if w, err := version.ParseDotted(text); err == nil && !v.Less(w) {
			return text
		}
	}
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}
