package pyproject

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/pep508"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// Contradictions says where a project's own sources and indexes would give
// another build of torch than the chosen one: the installer that follows the
// project would undo the choice. A source counts where its marker holds in env.
func (p *Project) Contradictions(c *resolver.Choice, env pep508.Environment) []string {
	if c == nil || c.Channel != "pip" {
		return nil
	}
	sources := xslices.Filter(p.Sources, func(s Source) bool { return env.Admits(s.Marker) })
	out := p.sourcesAgainst(c, sources)
	sourced := slices.ContainsFunc(sources, func(s Source) bool { return s.Package == "torch" })
	for _, i := range p.Indexes {
		if i.Explicit || sourced {
			continue
		}
		if l := Label(i.URL); l != "" && l != c.Build {
			out = append(out, fmt.Sprintf("%s names %s, which carries %s builds; the choice is %s", i.From, i.URL, l, c.Build))
		} else if i.Default && c.Index == nil && l == "" {
			out = append(out, fmt.Sprintf("%s replaces the default index by %s; whether it carries the chosen build is not known", i.From, i.URL))
		}
	}
	return out
}

// sourcesAgainst are the contradictions of the sources that count.
func (p *Project) sourcesAgainst(c *resolver.Choice, sources []Source) (out []string) {
	named := map[string]string{}
	for _, i := range p.Indexes {
		if i.Name != "" {
			named[i.Name] = i.URL
		}
	}
	agrees := map[string]bool{} // an extra may take it from elsewhere
	for _, s := range sources {
		url := named[s.Index]
		agrees[s.Package] = agrees[s.Package] || c.Index != nil && strings.TrimSuffix(url, "/") == strings.TrimSuffix(*c.Index, "/") || Label(url) == c.Build && c.Build != ""
	}
	for _, s := range sources {
		switch {
		case !isTorch(s.Package) || agrees[s.Package]:
		case s.Index == "":
			out = append(out, fmt.Sprintf("tool.uv.sources takes %s from %s", s.Package, s.Other))
		default:
			out = append(out, fmt.Sprintf("tool.uv.sources takes %s from the index %s (%s), and the choice comes from %s", s.Package, s.Index, named[s.Index], place(c.Index)))
		}
	}
	return out
}

func isTorch(name string) bool {
	return name == "torch" || name == "torchvision" || name == "torchaudio"
}

func place(index *string) string {
	if index == nil {
		return "the default index"
	}
	return *index
}

// Label is the build that PyTorch's index of this URL carries: …/whl/cu126.
func Label(url string) string {
	url = strings.TrimSuffix(url, "/")
	last := url[strings.LastIndexByte(url, '/')+1:]
	if strings.Contains(url, "/whl/") && (strings.HasPrefix(last, "cu") || strings.HasPrefix(last, "rocm") || last == "cpu" || last == "xpu") {
		return last
	}
	return ""
}
