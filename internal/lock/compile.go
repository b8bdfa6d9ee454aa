package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"envfix/internal/say"
	"envfix/internal/text"
)

// A Job is what uv resolves for one profile.
type Job struct {
	Requirements []string          // PEP 508; torch among them, pinned
	Python       string            // 3.12
	Platform     string            // uv's name, see [UVPlatform]
	Indexes      []Index           // packages with an index of their own
	Constraints  []string          // limits of packages that others ask for
	Overrides    []string          // what stands here replaces what other packages say
	Places       []string          // lines of a requirements file, absolute: folders, addresses, repositories
	Hashes       []string          // "numpy sha256": the only files of numpy that are admitted
	Build        []string          // packages that may be built from source
	Options      []string          // flags of uv without their dashes: "exclude-newer=2026-01-01"
	Groups       []Group           // that can be chosen; what they ask for is among Requirements
	Always       []string          // those of Requirements that are always installed; nil: all
	Names        map[string]string // URL of an index → its name; others are numbered
}

// Project returns a pyproject.toml for the job. Packages with an index of their
// own get it as an explicit one, so that nothing else is ever taken from there
// (dependency confusion; uv documents `explicit` for this).
func (j Job) Project() ([]byte, error) {
	names := map[string]string{} // URL → name
	sources, indexes := map[string]any{}, []uvIndex{}
	for _, i := range j.Indexes {
		if names[i.URL] == "" {
			names[i.URL] = cmp.Or(j.Names[i.URL], fmt.Sprintf("index-%d", len(names)+1))
			indexes = append(indexes, uvIndex{names[i.URL], i.URL, true})
		}
		sources[i.Package] = map[string]string{"index": names[i.URL]}
	}
	return toml.Marshal(map[string]any{
		"project": map[string]any{
			"name": "envfix-lock", "version": "0", "requires-python": "==" + j.Python + ".*", "dependencies": slices.Sorted(slices.Values(j.Requirements)),
		},
		"tool": map[string]any{"uv": map[string]any{"sources": sources, "index": indexes}},
	})
}

// manylinux lists the glibc minors of 2.x that uv has platforms for (uv 0.13,
// `uv pip compile --help`).
var manylinux = []int{17, 28, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40}

// UVPlatform returns uv's name of a target: the newest manylinux that is not
// newer than its glibc. Its error says what uv has no platform for.
func UVPlatform(m Match) (string, error) {
	arch := say.Either(m.Arch == "arm64", "aarch64", m.Arch)
	kind, least, _ := strings.Cut(m.Libc, ">=")
	switch {
	case m.OS == "windows":
		return arch + "-pc-windows-msvc", nil
	case m.OS == "macos":
		return arch + "-apple-darwin", nil
	case m.OS == "linux" && kind == "musl":
		return arch + "-unknown-linux-musl", nil
	case m.OS == "linux":
		var major, minor int
		if _, err := fmt.Sscanf(least, "%d.%d", &major, &minor); err != nil || major != 2 {
			return "", fmt.Errorf("glibc %q: want 2.N", text.Clip(least, 120))
		}
		for _, n := range slices.Backward(manylinux) {
			if n <= minor {
				return fmt.Sprintf("%s-manylinux_2_%d", arch, n), nil
			}
		}
	}
	return "", fmt.Errorf("no wheels can be locked for %s %s %s", text.Clip(m.OS, 120), text.Clip(m.Arch, 120), text.Clip(m.Libc, 120))
}

// Markers returns the PEP 508 expression that holds on the target and nowhere
// else, for `environments` of PEP 751.
func Markers(m Match, python string) string {
	system := map[string]string{"linux": "linux", "windows": "win32", "macos": "darwin"}[m.OS]
	cpu := say.Either(m.OS == "windows", map[string]string{"x86_64": "AMD64", "arm64": "ARM64"}[m.Arch], m.Arch)
	return fmt.Sprintf("sys_platform == '%s' and platform_machine == '%s' and python_version == '%s'", system, cpu, python)
}
