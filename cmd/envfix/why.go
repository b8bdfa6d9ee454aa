package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

func whyCommand() *cli.Command {
	return &cli.Command{
		Name:      "why",
		Usage:     "say why a build is, or is not, right for this machine",
		ArgsUsage: "[REQUIREMENT]",
		Description: `Judges every build that the requirement matches: which rule refuses it, with the
numbers, or which build is preferred to it and on what ground; of another package,
which of its releases run here. Then the smallest changes that would allow more.
-v prints every rule's word on every build. Where an
envfix.lock governs, its build is named; without REQUIREMENT it is what is judged.

EXAMPLES
  envfix why torch==2.15.0
  envfix why torch==2.14.1+cu130 --gpu V100 --driver 580.95.05
  envfix why vllm -v
  envfix why torch==2.9.1 --json

EXIT STATUS
  0  the case was stated
  2  usage, or input that cannot be read
  3  no known build matches the requirement`,
		Flags: append(append([]cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the case as JSON"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print every rule's word on every build"},
		}, requestFlags()...), describeFlags()...),
		Action: whyAction,
	}
}

func whyAction(c *cli.Context) error {
	f, err := planOf(c, shows)
	if err != nil {
		return err
	}
	q, w, err := f.question(c.Context)
	if err != nil {
		return err
	}
	h, r := q.Machine, &q.Request
	q.Machine = w.Tools(h)
	held, not := lockedFor(q.Matrix, h)
	if len(r.Requirements) == 0 && not != nil {
		return not
	}
	if len(r.Requirements) == 0 && held != nil {
		torch, err := lockedTorch(held.Profile)
		if err != nil {
			return err
		}
		r.Requirements, r.Python = append(r.Requirements, torch), held.Profile.Python
	}
	if len(r.Requirements) != 1 {
		return fail.Wrong(fmt.Sprintf("why takes one requirement; here are %d", len(r.Requirements)),
			"`envfix why torch==2.15.0`")
	}
	asked := r.Requirements[0]
	r.Requirements = nil
	told, err := q.Why(w, asked)
	if err != nil {
		return err
	}
	locked := caseOf(held, asked)
	return answer(c.App.Writer, c.Bool("json"), caseOfAnswer(asked, told, locked),
		whyText(h, asked, told, c.Bool("verbose"), lockRow(locked, not)), codeIf(len(told.Verdicts) == 0, fail.NoSolution))
}

// A caseAnswer is the JSON of `envfix why`.
type caseAnswer struct {
	Format       int                       `json:"format"`
	Requirement  string                    `json:"requirement"`
	Decision     resolver.Decision         `json:"decision"`
	Choice       *resolver.Choice          `json:"choice"`
	Then         *resolver.Choice          `json:"then"`
	Verdicts     []resolver.Verdict        `json:"verdicts"`
	Releases     []resolver.PackageRelease `json:"releases"` // of a package other than torch, the newest first
	Nearest      []resolver.Nearest        `json:"nearest"`
	Alternatives []string                  `json:"alternatives"`
	Locked       *lockedCase               `json:"locked"` // what envfix.lock says of it; null without one
}

func caseOfAnswer(asked pep508.Requirement, a *resolver.Case, locked *lockedCase) caseAnswer {
	return caseAnswer{1, asked.Text, a.Resolution.Decision, a.Resolution.Choice, a.Resolution.Then,
		append([]resolver.Verdict{}, a.Verdicts...), append([]resolver.PackageRelease{}, a.Releases...), append([]resolver.Nearest{}, a.Resolution.Nearest...),
		append([]string{}, a.Resolution.Alternatives...), locked}
}

// whyText is the case for people: one line per build, or with all every rule's. more
// are further rows of the answer.
func whyText(h machine.Machine, asked pep508.Requirement, a *resolver.Case, all bool, more [][2]string) string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\n\n", ui.Clean(asked.Text), whyMachine(h, a.Python))
	if len(a.Verdicts) == 0 {
		fmt.Fprintf(&b, "  no build for %s %s is known that it matches\n", h.Platform.OS, h.Platform.Arch)
	}
	verdicts := slices.Clone(a.Verdicts)
	if i := slices.IndexFunc(verdicts, func(v resolver.Verdict) bool { return v.Status == "chosen" }); i > 0 {
		chosen := verdicts[i]
		verdicts = slices.Insert(slices.Delete(verdicts, i, i+1), 0, chosen)
	}
	rows := releaseRows(asked.Name, a.Releases, all)
	if len(rows) > 0 && !all {
		verdicts = nil // which torch is right for which release, they say themselves
	}
	for i, v := range verdicts {
		name := "torch " + v.Torch + "+" + v.Build
		if all {
			b.WriteString(ui.Columns([][2]string{{name, v.Status + ": " + ui.Clean(v.Text)}}, 2) + whyWords(v) + "\n")
			continue
		}
		if i == most {
			rows = append(rows, [2]string{fmt.Sprintf("and %d more", len(a.Verdicts)-most), "`-v` shows all"})
			break
		}
		rows = append(rows, [2]string{name, v.Status + ": " + ui.Clean(v.Text)})
	}
	b.WriteString(ui.Columns(rows, 2))
	b.WriteString("\n" + whyAnswer(a.Resolution, more))
	return b.String()
}

// releaseRows are the releases of a package and what each means here; those of
// which the same is said stand together.
func releaseRows(name string, list []resolver.PackageRelease, all bool) [][2]string {
	const most = 12
	var rows [][2]string
	newest := ""
	for _, r := range list {
		text := r.Status + ": " + ui.Clean(r.Text)
		if n := len(rows); n > 0 && rows[n-1][1] == text && !all {
			rows[n-1][0] = ui.Clean(name + " " + newest + " to " + r.Version)
			continue
		}
		if newest = r.Version; len(rows) == most && !all {
			return append(rows, [2]string{"and older ones", "`-v` shows them"})
		}
		rows = append(rows, [2]string{ui.Clean(name + " " + r.Version), text})
	}
	return rows
}

// whyMachine names what the rules look at, in one line.
func whyMachine(h machine.Machine, python string) string {
	parts := text.Each(h.GPUs, func(g machine.GPU) string {
		name := strings.TrimPrefix(ui.Clean(g.Name), "NVIDIA ")
		return name + say.If(!g.SM.IsZero() && !strings.Contains(name, g.SM.String()), " ("+g.SM.String()+")")
	})
	if parts == nil {
		parts = []string{"a machine without a GPU"}
	}
	return say.List(", ", append(parts, say.With("driver ", h.DriverVersion(), ""), "Python "+python)...)
}

// whyWords lists every rule's word on one build.
func whyWords(v resolver.Verdict) string {
	return ui.Columns(text.Each(v.Words, func(w resolver.Word) [2]string {
		mark := say.Either(!w.OK, "refused  ", "passed   ")
		return [2]string{mark + w.Rule, ui.Clean(w.Text) + say.If(w.Source != "" && !w.OK, " ["+ui.Clean(w.Source)+"]")}
	}), 4)
}

// whyAnswer says what the machine gets instead, and what would change that.
func whyAnswer(r *resolver.Resolution, more [][2]string) string {
	rows := [][2]string{{"answer", ui.Answer(r.Decision)}}
	add := func(left string, c *resolver.Choice) {
		if c != nil {
			name := say.Either(c.Torch == "", strings.Join(slices.Sorted(maps.Keys(c.Packages)), ", "), "torch "+c.Torch)
			rows = append(rows, [2]string{left, ui.Clean(name + ", build " + c.Build)})
		}
	}
	add("choice", r.Choice)
	add("now", r.Fallback)
	add("then", r.Then)
	text := ui.Columns(append(rows, more...), 0)
	if others := ui.OtherAnswers(r.Nearest, r.Alternatives, ui.Style{}); others != "" {
		text += "\n" + others
	}
	return text
}
