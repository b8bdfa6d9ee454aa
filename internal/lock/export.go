package lock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// ExportConda returns an environment.yml for one profile: conda brings Python,
// and pip the very wheels of the lock, by hash. (conda-forge's own pytorch is
// another build with another arch list; it would not be what was locked.)
func (p *Profile) ExportConda(requirements string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s, profile %s. Beside it: %s\n", File, p.Name, requirements)
	fmt.Fprintf(&b, "name: %s\nchannels:\n  - conda-forge\n  - nodefaults\ndependencies:\n", p.Name)
	fmt.Fprintf(&b, "  - python=%s\n  - pip>=23\n  - pip:\n      - --require-hashes\n      - --no-deps\n      - --only-binary=:all:\n      - -r %s\n", p.Python, requirements)
	return b.String()
}

// uvPatch is the part of a pyproject.toml that makes `uv sync` and `uv run` take
// the locked builds: an extra per profile, which exclude each other, and explicit
// indexes, so that no other package is taken from them.
type uvPatch struct {
	Project struct {
		Extras map[string][]string `toml:"optional-dependencies"`
	} `toml:"project"`
	Tool struct {
		UV struct {
			Conflicts [][]uvExtra           `toml:"conflicts,omitempty"`
			Sources   map[string][]uvSource `toml:"sources,omitempty"`
			Indexes   []uvIndex             `toml:"index,omitempty"`
		} `toml:"uv"`
	} `toml:"tool"`
}

type uvExtra struct {
	Extra string `toml:"extra"`
}

type uvSource struct {
	Index string `toml:"index"`
	Extra string `toml:"extra"`
}

type uvIndex struct {
	Name     string `toml:"name"`
	URL      string `toml:"url"`
	Explicit bool   `toml:"explicit"`
}

// ExportUV returns the patch for pyproject.toml over all profiles. Profiles with
// the same torch and index share one extra, named after the build.
func (l *Lock) ExportUV() (string, error) {
	var u uvPatch
	u.Project.Extras = map[string][]string{}
	u.Tool.UV.Sources = map[string][]uvSource{}
	for _, p := range l.Profiles {
		extra := strings.NewReplacer(".", "-", "+", "-").Replace(p.Build)
		if want := []string{"torch==" + publicVersion(p)}; !slices.Equal(u.Project.Extras[extra], want) {
			if _, taken := u.Project.Extras[extra]; taken {
				extra = p.Name
			}
			u.Project.Extras[extra] = want
		}
		for _, i := range p.Indexes {
			name := "pytorch-" + strings.ReplaceAll(p.Build, ".", "-")
			source := uvSource{name, extra}
			if !slices.Contains(u.Tool.UV.Sources[i.Package], source) {
				u.Tool.UV.Sources[i.Package] = append(u.Tool.UV.Sources[i.Package], source)
			}
			if index := (uvIndex{name, i.URL, true}); !slices.Contains(u.Tool.UV.Indexes, index) {
				u.Tool.UV.Indexes = append(u.Tool.UV.Indexes, index)
			}
		}
	}
	var all []uvExtra
	for extra := range u.Project.Extras {
		all = append(all, uvExtra{extra})
	}
	slices.SortFunc(all, func(a, b uvExtra) int { return strings.Compare(a.Extra, b.Extra) })
	if len(all) > 1 {
		u.Tool.UV.Conflicts = [][]uvExtra{all}
	}
	b, err := toml.Marshal(u)
	return "# From " + File + ": merge into pyproject.toml, then `uv sync --extra NAME`\n" + string(b), err
}

// publicVersion is the version to ask for: with the label where the build comes
// from an index of its own.
func publicVersion(p Profile) string {
	if len(p.Indexes) > 0 {
		return p.Torch
	}
	v, _, _ := strings.Cut(p.Torch, "+")
	return v
}

// ExportDockerfile returns a Dockerfile that builds without a GPU and checks with
// one: the driver floor becomes NVIDIA_REQUIRE_CUDA, which the container runtime
// refuses to start below, and the last line says how to verify on a GPU.
func (p *Profile) ExportDockerfile(requirements string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# syntax=docker/dockerfile:1\n# From %s, profile %s. Beside it: %s\n", File, p.Name, requirements)
	fmt.Fprintf(&b, "FROM python:%s-slim\n", p.Python)
	fmt.Fprintf(&b, "COPY %s /tmp/requirements.txt\n", requirements)
	b.WriteString("RUN python -m pip install --isolated --no-cache-dir --no-deps --require-hashes --only-binary=:all: -r /tmp/requirements.txt\n")
	b.WriteString("RUN python -I -c \"import torch; assert torch.__version__ == '" + p.Torch + "', torch.__version__\"\n")
	if p.Match.GPU == "nvidia" {
		b.WriteString("ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility\n")
		if p.Match.Driver != "" {
			major, _, _ := strings.Cut(strings.TrimPrefix(p.Match.Driver, ">="), ".")
			fmt.Fprintf(&b, "ENV NVIDIA_REQUIRE_CUDA=\"driver>=%s\"\n", major)
		}
		b.WriteString("# With a GPU: docker run --rm --gpus all IMAGE python -I -c \"import torch; x = torch.ones(8, 8, device='cuda'); print((x @ x).sum().item())\"\n")
	}
	return b.String()
}
