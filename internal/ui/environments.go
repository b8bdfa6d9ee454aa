package ui

import (
	"cmp"
	"fmt"
	"strings"

	"envfix/internal/doctor"
	"envfix/internal/machine"
	"envfix/internal/say"
)

// worksWords say whether the torch of an environment works on this machine.
var worksWords = map[string]string{
	doctor.WorksGPU: "works", doctor.WorksCPU: "CPU only", doctor.WorksNot: "does not", doctor.WorksUnknown: "unknown", "": "-",
}

// EnvironmentTable is every environment in at most [Width] columns; those without torch
// are counted, and listed where verbose. home is the user's home directory, written ~.
func EnvironmentTable(a doctor.Environments, verbose bool, home string) string {
	var b strings.Builder
	torch, works := 0, 0
	for _, e := range a.Environments {
		if e.Torch != "" {
			torch++
		}
		if e.Works == doctor.WorksGPU {
			works++
		}
	}
	fmt.Fprintf(&b, "%s, %d with torch, %d of them on a GPU here\n", Count(len(a.Environments), "Python environment"), torch, works)
	b.WriteString(say.If(!a.GPU, "this machine has no GPU that can be used\n"))
	bare := 0
	head := false
	for _, e := range a.Environments {
		if e.Torch == "" && e.Why == "" && !verbose {
			bare++
			continue
		}
		if !head {
			fmt.Fprintf(&b, "\n%-38s %-8s %-17s %s\n", "ENVIRONMENT", "PYTHON", "TORCH", "HERE")
			head = true
		}
		b.WriteString(environmentRow(e, home))
	}
	if bare > 0 {
		fmt.Fprintf(&b, "\n%s without torch; `-v` lists them\n", Count(bare, "environment"))
	}
	if n := len(a.Closed); n > 0 {
		b.WriteString("\n" + Hang("", fmt.Sprintf("not looked into, closed to you: %s", Clip(strings.Join(a.Closed, " "), 300))))
	}
	b.WriteString(say.If(torch > 0, "\n`envfix doctor --env PATH` says what to do about one of them\n"))
	return b.String()
}

func environmentRow(e doctor.Environment, home string) string {
	var b strings.Builder
	path := e.Path
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		path = "~/" + rest
	}
	path = Clean(path)
	python, torch := cmp.Or(e.Python, "gone"), cmp.Or(e.Torch, "-")
	if columns(path) > 38 {
		b.WriteString(Clip(path, Width-1) + "\n")
		path = ""
	}
	b.WriteString(strings.TrimRight(fmt.Sprintf("%s %s %s %s", padded(path, 38), padded(python, 8), padded(torch, 17), worksWords[e.Works]), " ") + "\n")
	b.WriteString(say.If(e.Why != "" && e.Works != doctor.WorksCPU, Hang("    ", Clean(e.Why))))
	if how := installationWords(e.Installed); how != "" {
		b.WriteString(Hang("    ", Clean(how)))
	}
	return b.String()
}

// installationWords say who installed torch, when and with what.
func installationWords(i *machine.Installation) string {
	if i == nil {
		return ""
	}
	by := "installed"
	by += say.With(" by ", i.By, "") + say.If(i.At != "", " on "+strings.Replace(i.At[:min(16, len(i.At))], "T", " ", 1)+" UTC")
	by += say.With(" from ", i.From, "")
	return say.List("; ", say.If(by != "installed", by), say.If(!i.Asked, say.With("along with ", strings.Join(i.With, ", "), "")),
		say.If(i.Replaced, "it replaced an earlier one: "+i.Why))
}
