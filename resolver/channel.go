package resolver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// Nightly and test builds. They are no releases, and nobody read them: what they are
// built for is taken from the newest release, and said to be. The index is PyTorch's own
// beside that of the releases (its installation page: whl/nightly/cu130, whl/test/cu130).

// Channels are the values of a Request's Channel.
var Channels = []string{"nightly", "test"}

// nightlyDay is the day in the version of a nightly: 2.16.0.dev20261120.
var nightlyDay = lazy.Regexp(`\.dev(20\d\d)(\d\d)(\d\d)$`)

// readChannel checks what the request says of a channel.
func (w *request) readChannel() {
	if w.Channel == "" || w.conflict != "" {
		return
	}
	flag := "`--channel " + w.Channel + "`"
	switch {
	case w.conda():
		w.conflict = flag + " and `--manager " + w.Manager + "` exclude each other: conda-forge has releases only"
	case w.OnlyIndex == "default":
		w.conflict = flag + " and `--only-index default` exclude each other: the default index has releases only"
	}
	w.readChannelPin(flag)
}

// readChannelPin checks a torch that is pinned beside a channel: nightlies bear a day,
// candidates of a release do not.
func (w *request) readChannelPin(flag string) {
	v := w.exactTorch()
	if v == "" || w.conflict != "" {
		return
	}
	m := nightlyDay().FindStringSubmatch(v)
	if m == nil {
		if w.Channel == "nightly" {
			w.conflict = fmt.Sprintf("%s and `%s` exclude each other: nightlies are named by their day, such as torch==2.N.0.devYYYYMMDD", flag, w.torchText())
		}
		return
	}
	day := strings.Join(m[1:], "-")
	switch {
	case w.Channel == "test":
		w.conflict = fmt.Sprintf("%s and `%s` exclude each other: it has candidates of releases, and this is a nightly", flag, w.torchText())
	case w.Today != "" && day > w.Today:
		w.conflict = fmt.Sprintf("`%s` is of %s, and today is %s", w.torchText(), day, w.Today)
	}
}

// exactTorch is the version that torch is pinned to with ==; "" it is not.
func (w *request) exactTorch() string {
	for _, q := range w.torch {
		if v, ok := strings.CutPrefix(q.Spec.String(), "=="); ok && !strings.ContainsAny(v, ",*") {
			public, _ := version.SplitLocal(strings.TrimSpace(v))
			return public
		}
	}
	return ""
}

// listChannel are, of each kind of accelerator, the builds of the newest release that
// has one for this system, as those that a channel has of the next release: ROCm's builds
// were not seen of every release, and its nightlies go on (pytorch/pytorch#191688).
func (s *problem) listChannel() (list []*matrix.Build) {
	newest := map[string]*matrix.Release{} // by accelerator
	for _, b := range s.cache.wheels {
		accel := accelOf(b.Label)
		if newest[accel] == nil {
			newest[accel] = b.Release
		}
		if b.Release != newest[accel] {
			continue
		}
		c := *b
		c.Release, c.Default = s.nextRelease(b.Release), false
		c.Proof = matrix.ByInference
		c.Index = ChannelIndex(b.Index, s.req.Channel)
		list = append(list, &c)
		s.cache.behind[&c] = b.Release
	}
	return list
}

// releaseOf is the release whose facts speak for a build: its own, or the one that a
// channel's build is inferred from.
func (s *problem) releaseOf(b *matrix.Build) *matrix.Release {
	if r := s.cache.behind[b]; r != nil {
		return r
	}
	return b.Release
}

// ChannelIndex is the index of a channel beside one of PyTorch's releases.
func ChannelIndex(index, channel string) string {
	return strings.Replace(index, "/whl/", "/whl/"+channel+"/", 1)
}

// nextRelease stands for what a channel builds: the version that is pinned, else the
// minor release after the newest of all. Its companions are those of a release before it.
func (s *problem) nextRelease(before *matrix.Release) *matrix.Release {
	next := *before
	var err error
	if next.Torch, err = version.ParsePython(s.req.exactTorch()); err != nil {
		major, minor, _ := strings.Cut(version.Minor(s.m.Releases[0].Torch.String()), ".")
		n, _ := strconv.Atoi(minor)
		next.Torch = version.MustPython(fmt.Sprintf("%s.%d.0", major, n+1))
	}
	next.Companions = maps.Clone(before.Companions) // that there is one; which, the index says
	maps.DeleteFunc(next.Companions, func(name string, _ version.Python) bool { return !slices.Contains(companions, name) })
	return &next
}

// channelChoice takes from a choice what is not known of a build that nobody read: its
// version, where it is not pinned, those of its companions, its libraries and its code.
func (q *attempt) channelChoice(c *Choice) {
	c.Torch, c.Arches, c.CuDNN = q.p.req.exactTorch(), nil, ""
	for name := range c.Packages {
		if name == "torch" && c.Torch == "" || slices.Contains(companions, name) {
			c.Packages[name] = ""
		}
	}
}

// channelRemark says what is not known of a channel's builds.
func (q *attempt) channelRemark(b *matrix.Build) string {
	day := "the newest of its index is taken, and a lock pins its day (`torch==2.N.0.devYYYYMMDD` names one)"
	if pin := q.p.req.exactTorch(); pin != "" {
		day = "whether its index still has " + pin + " is not known: nightlies are kept for about two months"
	} else if q.p.req.Channel == "test" {
		day = "the newest release candidate of its index is taken, and a lock pins it"
	}
	return fmt.Sprintf("%s: not proven: that it exists for this system, its GPU code, Python and libraries are taken "+
		"from the newest release that has one, torch %s; %s", torchName(b), q.p.releaseOf(b).Torch, day)
}

// channelOf is the channel of a build; "" it is a release.
func channelOf(b *matrix.Build) string {
	c, _ := xslices.Find(Channels, func(c string) bool { return strings.Contains(b.Index, "/whl/"+c+"/") })
	return c
}
