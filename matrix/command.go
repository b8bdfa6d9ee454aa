package matrix

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// A CommandEra is how PyTorch wrote its install commands for a span of releases.
type CommandEra struct {
	Tool   string `one:"pip conda"` // pip, conda
	OS     []string
	Torch  version.Specifier
	Builds []string // kinds (cu, cpu, rocm, xpu, mps) or labels
	Args   string   // after "pip install", with {torch} and so on
	Proof  Proof
	Source string
}

// InstallCommand returns the command that PyTorch publishes for a release: torch
// 2.9.1, build cu126, os linux, tool pip or conda. Its error says what is
// published instead.
func InstallCommand(m *Matrix, torch, build, os, tool string) ([]string, error) {
	r, ok := m.Release(torch)
	if !ok {
		return nil, fmt.Errorf("torch %s is not in the matrix; it knows %s to %s", text.Cut(torch, 60), m.Releases[len(m.Releases)-1].Torch, m.Releases[0].Torch)
	}
	if !m.published(r, build, os, tool) {
		return nil, fmt.Errorf("torch %s has no %s command for %s on %s; there are %s", r.Torch, tool, text.Cut(build, 60), os, m.alternatives(r, os, tool))
	}
	for _, e := range m.Commands {
		if e.fits(r, build, os, tool) {
			return append([]string{tool, "install"}, e.fill(r, build)...), nil
		}
	}
	return nil, fmt.Errorf("no %s command is published for torch %s, %s on %s; there are %s", tool, r.Torch, text.Cut(build, 60), os, m.alternatives(r, os, tool))
}

func (e CommandEra) fits(r *Release, build, os, tool string) bool {
	kind := strings.TrimRight(build, "0123456789.")
	return e.Tool == tool && slices.Contains(e.OS, os) && e.Torch.Admits(r.Torch) &&
		(slices.Contains(e.Builds, build) || slices.Contains(e.Builds, kind))
}

// fill puts the versions into the words of a command.
func (e CommandEra) fill(r *Release, build string) []string {
	cuda, _ := LabelCUDA(build)
	values := strings.NewReplacer("{torch}", r.Torch.String(), "{torchvision}", r.Companions["torchvision"].String(),
		"{torchaudio}", r.Companions["torchaudio"].String(), "{build}", build, "{cuda}", cuda.String())
	words := strings.Fields(e.Args)
	for i, w := range words {
		words[i] = values.Replace(w)
	}
	return words
}

// published reports whether PyTorch names a build of a release in its commands.
// The pages write one line for Linux and Windows, so a build that one of them has
// counts for both.
func (m *Matrix) published(r *Release, build, os, tool string) bool {
	if tool == "conda" {
		return m.condaHas(r, build)
	}
	return slices.ContainsFunc(r.Builds, func(b *Build) bool {
		if b.Label != build && !(os == "macos" && build == "mps" && b.Label == "cpu") {
			return false
		}
		return (b.OS == "macos") == (os == "macos") && (b.Status == Offered || b.Default || b.Proof != ByInference && b.Status == NotSeen)
	})
}

func (m *Matrix) condaHas(r *Release, build string) bool {
	cuda, isCUDA := LabelCUDA(build)
	return slices.ContainsFunc(m.Conda, func(c CondaBuild) bool {
		if c.Channel != "pytorch" || c.Torch.Compare(r.Torch) != 0 {
			return false
		}
		return isCUDA && c.CUDA.Compare(cuda) == 0 || !isCUDA && (build == "cpu" || build == "mps")
	})
}

// alternatives lists the builds that a command is published for.
func (m *Matrix) alternatives(r *Release, os, tool string) string {
	var out []string
	for _, b := range r.Builds {
		label := b.Label
		for _, e := range m.Commands {
			if !slices.Contains(out, label) && m.published(r, label, os, tool) && e.fits(r, label, os, tool) {
				out = append(out, label)
			}
		}
	}
	return say.Either(len(out) == 0, "none", strings.Join(out, ", "))
}
