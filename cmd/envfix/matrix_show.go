package main

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/machine"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixShowCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "which builds of torch there are, for which GPUs, drivers and Pythons",
		ArgsUsage: "[torch==VERSION]",
		Description: `Without a requirement: one line per release. With --gpu only builds that have code
for that GPU are listed.

EXAMPLES
  envfix matrix show
  envfix matrix show torch==2.9.1
  envfix matrix show 'torch>=2.8' --gpu V100
  envfix matrix show torch==2.15.0 --arch aarch64 --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "gpu", Usage: "only builds for this `GPU`: a name or a compute capability"},
			&cli.StringFlag{Name: "os", Usage: "only builds for this `SYSTEM`: linux, windows or macos"},
			&cli.StringFlag{Name: "arch", Usage: "only builds for this `ARCH`: x86_64, aarch64 or arm64"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action: matrixShowAction,
	}
}

// A shownBuild is one build as show lists it.
type shownBuild struct {
	*matrix.Build
	floor matrix.Floor
	runs  string // on the GPU asked for: "native", "PTX", ""
}

// A shownRelease is one release with those of its builds that were asked for.
type shownRelease struct {
	*matrix.Release
	builds []shownBuild
}

func matrixShowAction(c *cli.Context) error {
	spec, label, err := torchArgument(c)
	if err != nil {
		return err
	}
	m, err := matrixFor()
	if err != nil {
		return err
	}
	var gpu machine.GPU
	if c.IsSet("gpu") {
		if gpu, err = describe.GPU(c.String("gpu")); err != nil {
			return err
		}
		if gpu.SM.IsZero() {
			return &failure{code: exitUsage, text: "only NVIDIA GPUs are told apart here: " + ui.Clean(gpu.Name) + " is none", hints: []string{"`envfix plan --gpu …` knows the builds for the others"}}
		}
	}
	keep := func(b *matrix.Build) bool {
		return (label == "" || b.Label == label) && (!c.IsSet("os") || b.OS == c.String("os")) && (!c.IsSet("arch") || b.Arch == c.String("arch"))
	}
	var list []shownRelease
	for _, r := range m.Releases {
		if spec.Admits(r.Torch) {
			list = append(list, pickBuilds(m, r, gpu.SM, keep))
		}
	}
	list = slices.DeleteFunc(list, func(r shownRelease) bool { return len(r.builds) == 0 })
	if len(list) == 0 {
		return nothingToShow(m, spec, gpu)
	}
	switch {
	case c.Bool("json"):
		return writeJSON(c.App.Writer, showJSON(m, list))
	case c.NArg() == 0 || len(list) > 3:
		_, err = fmt.Fprint(c.App.Writer, releaseTable(list, gpu))
	default:
		_, err = fmt.Fprint(c.App.Writer, buildTables(m, list, gpu))
	}
	return err
}

func nothingToShow(m *matrix.Matrix, spec version.Specifier, gpu machine.GPU) error {
	text := "the matrix has no such build"
	switch _, err := newestRelease(m, spec); {
	case err != nil:
		text = unknownTorch(m, spec)
	case !gpu.SM.IsZero():
		text = fmt.Sprintf("no build asked for has code for %s (compute capability %s)", ui.Clean(gpu.Name), gpu.SM)
	}
	return &failure{code: exitNoSolution, text: text, hints: []string{"`envfix matrix show` lists every release"}}
}

func unknownTorch(m *matrix.Matrix, spec version.Specifier) string {
	return fmt.Sprintf("the matrix knows no torch %s; it knows %s to %s", ui.Clip(spec.String(), 60), m.Releases[len(m.Releases)-1].Torch, m.Releases[0].Torch)
}

func pickBuilds(m *matrix.Matrix, r *matrix.Release, sm machine.SM, keep func(*matrix.Build) bool) shownRelease {
	out := shownRelease{Release: r}
	for _, b := range r.Builds {
		s := shownBuild{Build: b}
		if !sm.IsZero() {
			native, ptx := m.Covers(b, sm)
			switch {
			case native:
				s.runs = "native"
			case ptx:
				s.runs = "PTX"
			}
		}
		if !keep(b) || (!sm.IsZero() && s.runs == "") {
			continue
		}
		s.floor, _ = m.Floor(b.Label)
		out.builds = append(out.builds, s)
	}
	return out
}

// releaseTable is one line per release: its builds for the first platform that
// has some.
func releaseTable(list []shownRelease, gpu machine.GPU) string {
	rows := [][]string{{"TORCH", "DATE", "BUILDS", "PYTHON"}}
	platform := list[0].builds[0].OS + " " + list[0].builds[0].Arch
	if slices.ContainsFunc(list[0].builds, func(b shownBuild) bool { return b.OS == "linux" && b.Arch == "x86_64" }) {
		platform = "linux x86_64"
	}
	for _, r := range list {
		var labels []string
		python := ""
		for _, b := range r.builds {
			if b.OS+" "+b.Arch != platform {
				continue
			}
			labels = append(labels, marked(b.Build))
			if python == "" {
				python = b.PythonMin.String() + " - " + b.PythonMax.String()
			}
		}
		if len(labels) == 0 {
			continue
		}
		for i, line := range ui.Wrap(strings.Join(labels, " "), 42) {
			if i == 0 {
				rows = append(rows, []string{r.Torch.String(), r.Date, line, python})
			} else {
				rows = append(rows, []string{"", "", line, ""})
			}
		}
	}
	head := platform + "; * on the default index, in brackets: not offered, or never seen"
	if !gpu.SM.IsZero() {
		head = fmt.Sprintf("builds with code for %s (%s), %s", ui.Clean(gpu.Name), gpu.SM, head)
	}
	return strings.Join(ui.Wrap(head, ui.Width), "\n") + "\n\n" + table(rows)
}

// marked writes a build's label with what sets it apart.
func marked(b *matrix.Build) string {
	switch {
	case b.Default:
		return b.Label + "*"
	case b.Status != matrix.Offered:
		return "(" + b.Label + ")"
	}
	return b.Label
}

// buildTables shows every build of a few releases, a table per platform.
func buildTables(m *matrix.Matrix, list []shownRelease, gpu machine.GPU) string {
	var b strings.Builder
	for i, r := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		text := "torch " + r.Torch.String() + " (" + r.Date + ")"
		for _, name := range []string{"torchvision", "torchaudio", "triton"} {
			if v, ok := r.Companions[name]; ok && !v.IsZero() {
				text += ", " + name + " " + v.String()
			}
		}
		if !gpu.SM.IsZero() {
			text += fmt.Sprintf("; builds with code for %s (%s)", ui.Clean(gpu.Name), gpu.SM)
		}
		b.WriteString(strings.Join(ui.Wrap(text, ui.Width), "\n") + "\n")
		for _, p := range platforms(r.builds) {
			b.WriteString("\n" + platformTable(m, p))
		}
	}
	b.WriteString("\n* on the default index, in brackets: not offered, or never seen; + PTX\n")
	return b.String()
}

// platforms groups builds by system and architecture, in their order.
func platforms(builds []shownBuild) [][]shownBuild {
	var out [][]shownBuild
	for _, b := range builds {
		i := slices.IndexFunc(out, func(g []shownBuild) bool { return g[0].OS == b.OS && g[0].Arch == b.Arch })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], b)
	}
	rank := func(g []shownBuild) int { return slices.Index(platformOrder, g[0].OS+" "+g[0].Arch) }
	slices.SortStableFunc(out, func(a, b []shownBuild) int { return rank(a) - rank(b) })
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
		var gfx []string
		for _, r := range m.ROCm {
			if r.Label == b.Label && r.Torch.Admits(b.Release.Torch) && !slices.Contains(gfx, r.GFX) {
				gfx = append(gfx, r.GFX)
			}
		}
		return strings.TrimSpace("AMD " + strings.Join(gfx, " "))
	case b.Label == "xpu":
		return "Intel"
	case b.Label == "mps":
		return "Apple"
	}
	return "none"
}

// platformTable lists the builds of one platform.
func platformTable(m *matrix.Matrix, builds []shownBuild) string {
	first := builds[0]
	head := first.OS + " " + first.Arch
	var parts []string
	if !first.Glibc.IsZero() {
		parts = append(parts, "glibc "+first.Glibc.String())
	}
	if !first.MacOSMin.IsZero() {
		parts = append(parts, "macOS "+first.MacOSMin.String())
	}
	parts = append(parts, "Python "+first.PythonMin.String()+" - "+first.PythonMax.String())
	if len(first.FreeThreaded) > 0 {
		parts = append(parts, strings.Join(first.FreeThreaded, " "))
	}
	rows := [][]string{{"BUILD", "CUDA", "CUDNN", "DRIVER", "GPUS"}}
	for _, b := range builds {
		driver := b.floor.Linux.String()
		if b.OS == "windows" {
			driver = b.floor.Windows.String()
		}
		if b.CUDA.IsZero() {
			driver = ""
		}
		for i, line := range ui.Wrap(gpusOf(m, b.Build), 34) {
			row := []string{"", "", "", "", line}
			if i == 0 {
				row = []string{marked(b.Build), b.CUDA.String(), b.CuDNN.String(), driver, line}
			}
			rows = append(rows, row)
		}
	}
	return head + ": " + strings.Join(parts, ", ") + "\n" + table(rows)
}

func capabilities(codes []matrix.Code) string {
	var words []string
	for _, c := range codes {
		words = append(words, c.SM.String()+c.Suffix)
	}
	return strings.Join(words, " ")
}

// table aligns rows in columns, two spaces apart.
func table(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := "  "
		for i, cell := range r {
			line += cell + strings.Repeat(" ", width[i]-len([]rune(cell))+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
