package pyproject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/resolver"
)

// IsPixi reports whether a file is a project of pixi: pixi.toml by its name, a
// pyproject.toml by its [tool.pixi].
func IsPixi(content []byte, name string) bool {
	if name == "pixi.toml" {
		return true
	}
	var d struct {
		Tool map[string]any `toml:"tool"`
	}
	return unmarshal(content, &d) == nil && d.Tool["pixi"] != nil
}

// PatchPixi returns the project of pixi that takes torch from conda-forge as it was
// chosen for a machine: its platform, what the machine brings ([system-requirements],
// without which pixi takes a CPU build), the packages and more. Everything else stays as it
// was written. Its error says what has to be changed by hand.
func PatchPixi(content []byte, name string, c *resolver.Choice, p machine.Platform, more ...[2]string) ([]byte, error) {
	if c == nil || c.Channel != "conda-forge" {
		return nil, fmt.Errorf("the choice does not come from conda-forge, so a pixi project cannot take it")
	}
	platform := PixiPlatform(p)
	if platform == "" {
		return nil, fmt.Errorf("pixi has no name for %s %s", p.OS, p.Arch)
	}
	e := &Edit{Text: content, Name: name}
	in := func(table ...string) *Edit {
		e.Table = table
		if name == "pyproject.toml" {
			e.Table = append([]string{"tool", "pixi"}, table...)
		}
		return e
	}
	head := say.Either(len(in("project").Strings("platforms")) > 0, "project", "workspace") // its older name
	failed := cmp.Or(in(head).include("channels", "conda-forge"), in(head).include("platforms", platform))
	if c.CUDA != "" {
		major, _, _ := strings.Cut(c.CUDA, ".")
		failed = cmp.Or(failed, in("system-requirements").Set("cuda", major), in("dependencies").Set("cuda-version", c.CUDA+".*"))
	}
	if p.Libc != nil && p.Libc.Kind == "glibc" && p.Libc.Version.Less(pixiLibc()) {
		libc := text.Form("{ family = \"glibc\", version = %s }", text.JSON(p.Libc.Version.String()))
		failed = cmp.Or(failed, in("system-requirements").SetRaw("libc", libc))
	}
	failed = cmp.Or(failed, in("dependencies").Set("python", strings.TrimSuffix(c.Python, "t")+".*"))
	for _, s := range append(pixiSpecs(c), more...) {
		failed = cmp.Or(failed, in("dependencies").Set(s[0], s[1]))
	}
	if failed != nil {
		return nil, failed
	}
	return e.Text, nil
}

// pixiLibc is the glibc that pixi assumes of Linux where a project says none (pixi's
// system requirements).
var pixiLibc = sync.OnceValue(func() version.Dotted { return version.MustDotted("2.28") })

// pixiSpecs are the packages of a choice: torch's build by its metapackage.
func pixiSpecs(c *resolver.Choice) [][2]string {
	torch := say.Either(c.Build == "mps", "pytorch", say.Either(c.CUDA == "", "pytorch-cpu", "pytorch-gpu"))
	out := [][2]string{{torch, "==" + c.Torch}}
	for _, name := range sortedKeys(c.Packages) {
		if v, _ := version.SplitLocal(c.Packages[name]); name != "torch" {
			out = append(out, [2]string{name, say.Either(v != "", "=="+v, "*")})
		}
	}
	return out
}

// PixiPlatform is conda's name of a platform; "" it has none.
func PixiPlatform(p machine.Platform) string {
	return map[string]string{"linux x86_64": "linux-64", "linux aarch64": "linux-aarch64", "windows x86_64": "win-64",
		"windows arm64": "win-arm64", "macos arm64": "osx-arm64", "macos x86_64": "osx-64"}[p.OS+" "+p.Arch]
}

// include puts item into the list of strings at key, where it is not in it.
func (e *Edit) include(key, item string) error {
	if slices.Contains(e.Strings(key), item) {
		return nil
	}
	return e.Add(key, item)
}
