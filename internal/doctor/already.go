package doctor

import (
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/version"
)

var (
	setsVariable = lazy.Regexp("^(?:now: |or )?`export ([A-Z][A-Z0-9_]*)=\"?([^\"` ]+)\"?`")
	takesOut     = lazy.Regexp("^`unset ([A-Z][A-Z0-9_]*)`$")
	installsOne  = lazy.Regexp("^`pip install \"?([A-Za-z][\\w.-]*)==([\\w.+]+)\"?`$")
	installsAny  = lazy.Regexp("`((?:pip|conda) install [^`]+)`$")
	allocator    = lazy.Regexp("(?:, or )?`export PYTORCH_(?:CUDA_)?ALLOC_CONF=expandable_segments:True`" +
		"(?: \\(PYTORCH_CUDA_ALLOC_CONF before torch 2\\.9\\))?")
)

// already leaves out of a remedy what is so already: a variable that has the value, one
// that is not set, a version that is installed, an installer's command that the paste shows. "" where nothing is left.
func (e *exam) already(way string) string {
	env := e.Machine.Env
	for _, name := range []string{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"} {
		if strings.Contains(env[name], "expandable_segments:True") {
			way = allocator().ReplaceAllString(way, "")
		}
	}
	if moot(e.Case, way) {
		return ""
	}
	if m := setsVariable().FindStringSubmatch(way); m != nil && env[m[1]] == m[2] {
		return ""
	}
	if m := takesOut().FindStringSubmatch(way); m != nil && !e.Pasted {
		if _, set := env[m[1]]; !set {
			return ""
		}
	}
	if m := installsOne().FindStringSubmatch(way); m != nil && isVersion(e.Installed(m[1]), m[2]) {
		return ""
	}
	return way
}

// moot reports whether the text says that it was done, or that it is that build.
func moot(c *read.Case, way string) bool {
	m := installsAny().FindStringSubmatch(way)
	return m != nil && slices.ContainsFunc(c.Did.Ran, func(l string) bool { return strings.HasSuffix(" "+plain(l), " "+plain(m[1])) }) ||
		strings.Contains(way, "Visual C++ Redistributable") && !c.Did.Redistributable.IsZero() && !strings.Contains(way, "newest") ||
		c.Torch.Label == "xpu" && strings.Contains(way, "/whl/xpu") || way == "reboot" && !c.Did.Rebooted.IsZero()
}

// isVersion reports whether a package is installed in a version.
func isVersion(p *read.Package, ver string) bool {
	public, _ := version.SplitLocal(ver)
	return p != nil && (p.Version == ver || read.Public(p.Version) == public && public == ver)
}
