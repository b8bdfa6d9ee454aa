package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// A ShownBuild is one build as a table lists it, and as JSON.
type ShownBuild struct {
	*matrix.Build
	Cubins       []string     `json:"cubins"`
	Virtual      []string     `json:"ptx"`
	Runs         string       `json:"runs,omitempty"` // on the GPU asked for: native or PTX
	Floor        matrix.Floor `json:"driver"`
	FreeThreaded []string     `json:"free_threaded"`
}

// A ShownRelease is one release with those of its builds that were asked for.
type ShownRelease struct {
	*matrix.Release
	Builds []ShownBuild `json:"builds"`
}

// Releases is one line per release: its builds for the first platform that
// has some.
func Releases(list []ShownRelease, gpu machine.GPU) string {
	rows := [][]string{{"TORCH", "DATE", "BUILDS", "PYTHON"}}
	platform := list[0].Builds[0].OS + " " + list[0].Builds[0].Arch
	if slices.ContainsFunc(list[0].Builds, func(b ShownBuild) bool { return b.OS == "linux" && b.Arch == "x86_64" }) {
		platform = "linux x86_64"
	}
	for _, r := range list {
		on := xslices.Filter(r.Builds, func(b ShownBuild) bool { return b.OS+" "+b.Arch == platform })
		if len(on) == 0 {
			continue
		}
		labels, python := text.Each(on, func(b ShownBuild) string { return buildLabel(b.Build) }), on[0].PythonMin.String()+" - "+on[0].PythonMax.String()
		for i, line := range Wrap(strings.Join(labels, " "), 42) {
			row := say.Either(i > 0, []string{"", "", line, ""}, []string{r.Torch.String(), r.Date, line, python})
			rows = append(rows, row)
		}
	}
	head := platform + "; * on the default index, in brackets: not offered, or never seen"
	if !gpu.SM.IsZero() {
		head = fmt.Sprintf("builds with code for %s (%s), %s", Clean(gpu.Name), gpu.SM, head)
	}
	return strings.Join(Wrap(head, Width), "\n") + "\n\n" + table(rows)
}

// buildLabel writes a build's label with what sets it apart.
func buildLabel(b *matrix.Build) string {
	return say.Either(b.Default, b.Label+"*", say.Either(b.Status == matrix.Offered, b.Label, "("+b.Label+")"))
}

// Builds shows every build of a few releases, a table per platform.
func Builds(m *matrix.Matrix, list []ShownRelease, gpu machine.GPU) string {
	var b strings.Builder
	for i, r := range list {
		b.WriteString(say.If(i > 0, "\n"))
		text := "torch " + r.Torch.String() + " (" + r.Date + ")"
		for _, name := range []string{"torchvision", "torchaudio", "triton"} {
			if v, ok := r.Companions[name]; ok && !v.IsZero() {
				text += ", " + name + " " + v.String()
			}
		}
		text += say.If(!gpu.SM.IsZero(), fmt.Sprintf("; builds with code for %s (%s)", Clean(gpu.Name), gpu.SM))
		b.WriteString(strings.Join(Wrap(text, Width), "\n") + "\n")
		for _, p := range platforms(r.Builds) {
			b.WriteString("\n" + platformTable(m, p))
		}
	}
	b.WriteString("\n* on the default index, in brackets: not offered, or never seen; + PTX\n")
	return b.String()
}

// platforms groups builds by system and architecture, in their order.
func platforms(builds []ShownBuild) [][]ShownBuild {
	var out [][]ShownBuild
	for _, b := range builds {
		i := slices.IndexFunc(out, func(g []ShownBuild) bool { return g[0].OS == b.OS && g[0].Arch == b.Arch })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], b)
	}
	rank := func(g []ShownBuild) int { return slices.Index(platformOrder, g[0].OS+" "+g[0].Arch) }
	slices.SortStableFunc(out, func(a, b []ShownBuild) int { return rank(a) - rank(b) })
	return out
}

var platformOrder = []string{"linux x86_64", "linux aarch64", "windows x86_64", "windows arm64", "macos arm64", "macos x86_64"}

// gpusOf says in words or numbers which GPUs a build is for.
func gpusOf(m *matrix.Matrix, b *matrix.Build) string {
	gpus := capabilities(b.Native)
	if len(b.PTX) > 0 {
		gpus += " +" + capabilities(b.PTX)
	}
	switch {
	case gpus != "":
		return gpus
	case strings.HasPrefix(b.Label, "rocm"):
		of := xslices.Filter(m.ROCm, func(r matrix.ROCmTarget) bool { return r.Label == b.Label && r.Torch.Admits(b.Release.Torch) })
		return strings.TrimSpace("AMD " + strings.Join(xslices.Once(text.Each(of, func(r matrix.ROCmTarget) string { return r.GFX })), " "))
	case b.Label == "xpu":
		return "Intel"
	case b.Label == "mps":
		return "Apple"
	}
	return "none"
}

// platformTable lists the builds of one platform.
func platformTable(m *matrix.Matrix, builds []ShownBuild) string {
	first := builds[0]
	head := first.OS + " " + first.Arch
	parts := say.List(", ", say.With("glibc ", first.Glibc.String(), ""), say.With("macOS ", first.MacOSMin.String(), ""),
		"Python "+first.PythonMin.String()+" - "+first.PythonMax.String(), strings.Join(first.FreeThreaded, " "))
	rows := [][]string{{"BUILD", "CUDA", "CUDNN", "DRIVER", "GPUS"}}
	for _, b := range builds {
		driver := say.If(!b.CUDA.IsZero(), say.Either(b.OS == "windows", b.Floor.Windows.String(), b.Floor.Linux.String()))
		for i, line := range Wrap(gpusOf(m, b.Build), 34) {
			row := say.Either(i == 0, []string{buildLabel(b.Build), b.CUDA.String(), b.CuDNN.String(), driver, line}, []string{"", "", "", "", line})
			rows = append(rows, row)
		}
	}
	return head + ": " + parts + "\n" + table(rows)
}

func capabilities(codes []matrix.Code) string {
	return strings.Join(text.Each(codes, func(c matrix.Code) string { return c.SM.String() + c.Suffix }), " ")
}

// table aligns rows in columns, two spaces apart.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		io.WriteString(w, "  "+strings.Join(r, "\t")+"\n")
	}
	w.Flush()
	return atEnds().ReplaceAllString(b.String(), "")
}

var atEnds = lazy.Regexp(`(?m) +$`)

// Pairs are the first two cells of each row, safe to print.
func Pairs(rows [][]string) [][2]string {
	return text.Each(rows, func(r []string) [2]string { return [2]string{Clean(r[0]), Clean(r[1])} })
}

// PickBuilds are the builds of a release that are kept, and whether each has code for sm, where that is not zero.
func PickBuilds(m *matrix.Matrix, r *matrix.Release, sm machine.SM, keep func(*matrix.Build) bool) ShownRelease {
	out := ShownRelease{Release: r}
	for _, b := range r.Builds {
		s := ShownBuild{Build: b, Cubins: CodeWords("sm_", b.Native), Virtual: CodeWords("compute_", b.PTX), FreeThreaded: append([]string{}, b.FreeThreaded...)}
		if !sm.IsZero() {
			native, ptx := m.Covers(b.Native, b.PTX, sm)
			switch {
			case native:
				s.Runs = "native"
			case ptx:
				s.Runs = "PTX"
			}
		}
		if !keep(b) || (!sm.IsZero() && s.Runs == "") {
			continue
		}
		s.Floor, _ = m.Floor(b.Label)
		out.Builds = append(out.Builds, s)
	}
	return out
}

// MatrixShow is the JSON of `envfix matrix show`.
func MatrixShow(m *matrix.Matrix, list []ShownRelease) any {
	return MatrixShowAnswer{1, map[string]string{"version": m.Version, "date": m.Date, "sha256": m.SHA256}, list}
}

// CodeWords are GPU code as PyTorch writes it: sm_90a, compute_90.
func CodeWords(prefix string, codes []matrix.Code) []string {
	return append([]string{}, text.Each(codes, func(c matrix.Code) string { return prefix + c.SM.Code() + c.Suffix })...)
}

// A MatrixShowAnswer is the JSON of `envfix matrix show`.
type MatrixShowAnswer struct {
	Format   int               `json:"format"`
	Matrix   map[string]string `json:"matrix"`
	Releases []ShownRelease    `json:"releases"`
}
