package doctor

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"

	"mvdan.cc/sh/v3/syntax"
)

// A patientCase is one case that some fixture makes, and its report.
type patientCase struct {
	name   string
	c      *read.Case
	report Report
}

// systems are lines that say which system the person of a text has.
var systems = []string{"", "\nOS: Windows 11", "\nOS: Ubuntu 22.04.4 LTS", "\nWSL2, Ubuntu 24.04", "\nmacOS 14.5, Apple M2"}

// everyCase calls see for every fixture: texts of threads, of healthy machines, the
// examples of messages and rules (each for several systems), and recorded machines, as
// they are and with each torch that matters.
func everyCase(t *testing.T, see func(patientCase)) {
	t.Helper()
	pasted := func(name, text string, systems ...string) {
		for _, s := range systems {
			r, c := examine(t, text+s)
			see(patientCase{name + strings.ReplaceAll(s, "\n", " "), c, r})
		}
	}
	for i, m := range know.Embedded().Messages {
		pasted("message "+m.ID, m.Example, systems[i%len(systems)])
	}
	for i, r := range slices.Concat(ruled, ruledMore) {
		pasted("rule "+r.check, r.sick, "", systems[1], systems[2+i%3])
	}
	for _, pattern := range []string{"testdata/threads*.txt", "testdata/everyday.txt", "testdata/healthy/*.txt", "testdata/wordings.txt", "testdata/unrelated.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, body := range regexp.MustCompile(`(?m)^== ?`).Split(string(text), -1) {
				head, _, _ := strings.Cut(body, "\n")
				pasted(file+" "+head, body, "")
			}
		}
	}
	recordedCases(t, see)
}

// recordedCases are the recorded machines, bare and with a torch of each kind.
func recordedCases(t *testing.T, see func(patientCase)) {
	t.Helper()
	files, err := filepath.Glob("../../cmd/envfix/testdata/machines/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	cuda := func(s string) *string { return &s }
	torches := []*machine.Package{
		nil, {Name: "torch", Version: "2.7.1+cpu", CUDA: cuda("")}, {Name: "torch", Version: "2.9.1+cu130", CUDA: cuda("13.0")},
		{Name: "torch", Version: "2.1.2+cu118", CUDA: cuda("11.8")},
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, torch := range torches {
			m, err := machine.Read(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if torch != nil {
				m.Installed = append(slices.DeleteFunc(m.Installed, func(p machine.Package) bool { return p.Name == "torch" }), *torch)
				name += " with torch " + torch.Version
			}
			c := read.FromMachine(m)
			if c.Matrix, c.Devices, err = loaded(); err != nil {
				t.Fatal(err)
			}
			see(patientCase{name, c, Examine(know.Embedded(), c)})
		}
	}
}

// posixPrograms begin a command of a shell of POSIX; what else stands in backticks is
// code, a setting or a name.
var posixPrograms = []string{
	"pip", "uv", "conda", "mamba", "sudo", "envfix", "python", "export", "unset", "nvidia-smi", "docker", "podman", "apt", "apt-mark", "dnf", "printenv", "timeout",
	"ldconfig", "modprobe", "rmmod", "systemctl", "dkms", "mokutil", "kubectl", "srun", "sbatch", "torchrun", "accelerate", "wsl", "eval", "source", "ls", "df", "lsof", "fuser", "kill", "dmesg", "lspci", "echo", "module", "nvidia-ctk",
}

// Whatever any rule says to do, for any fixture: no placeholder, no more backticks
// than pairs, a command that the shell of that person reads, and no torch that the
// resolver refuses for that machine.
func TestEveryAdvice(t *testing.T) {
	checked, shells, posix := 0, map[string]int{}, map[string]bool{}
	everyCase(t, func(p patientCase) {
		e := newExam(know.Embedded(), p.c)
		for _, f := range p.report.Findings {
			for _, way := range f.Fix {
				if bad := placeholder.FindString(way); bad != "" {
					t.Errorf("%s, %s: %q holds the placeholder %q", p.name, f.Check, way, bad)
				}
				if strings.Count(way, "`")%2 != 0 {
					t.Errorf("%s, %s: %q opens a backtick and does not close it", p.name, f.Check, way)
				}
				for _, m := range ticked.FindAllStringSubmatch(way, -1) {
					checked++
					shells[p.c.Machine.Platform.OS]++
					readable(t, p.name, f.Check, m[1], p.c.Machine.Platform.OS)
					if first, _, _ := strings.Cut(m[1], " "); p.c.Machine.Platform.OS != "windows" && slices.Contains(posixPrograms, first) {
						posix[strings.ReplaceAll(m[1], "\n", " ")] = true
					}
					accepted(t, e, p.name, f.Check, m[1])
				}
			}
		}
	})
	if checked < 1000 || shells["windows"] < 100 || shells["linux"] < 100 || shells["macos"] < 20 {
		t.Errorf("%d commands, by system %v: the walk does not reach what it should", checked, shells)
	}
	if len(posix) < 200 {
		t.Errorf("%d commands of a shell of POSIX", len(posix))
	}
	shellsRead(t, slices.Sorted(maps.Keys(posix)))
}

// shellsRead: the shells of this machine read every command too (sh -n runs nothing).
func shellsRead(t *testing.T, commands []string) {
	t.Helper()
	for _, shell := range []string{"sh", "bash", "dash"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not on this machine: the parser of package syntax alone has read the commands", shell)
			continue
		}
		c := exec.Command("sh", "-c", `while IFS= read -r l; do printf '%s\n' "$l" | "$0" -n 2>/dev/null || printf '%s\n' "$l"; done`, shell)
		c.Stdin = strings.NewReader(strings.Join(append(commands, `echo "not closed`), "\n") + "\n")
		out, err := c.Output()
		if err != nil {
			t.Fatal(shell, err)
		}
		if got := strings.TrimSpace(string(out)); got != `echo "not closed` {
			t.Errorf("%s does not read:\n%s", shell, got)
		}
	}
}

// readable: Windows reads PowerShell, everybody else a shell of POSIX.
func readable(t *testing.T, name, id, command, system string) {
	t.Helper()
	first := strings.Fields(command + " ?")[0]
	if system == "windows" {
		if bad := forLinux.FindString(command); bad != "" {
			t.Errorf("%s, %s: `%s` is for Linux (%s)", name, id, command, bad)
		}
		if slices.Contains(psPrograms, first) || slices.Contains(posixPrograms, first) || strings.HasPrefix(first, "$") || posixSet.MatchString(first) && strings.Contains(command, " ") {
			if err := powershellReads(command); err != nil {
				t.Errorf("%s, %s: PowerShell does not read `%s`: %v", name, id, command, err)
			}
		}
		return
	}
	if !slices.Contains(posixPrograms, first) {
		return
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(strings.ReplaceAll(command, "…", "x")), "")
	if err != nil {
		t.Errorf("%s, %s: sh does not read `%s`: %v", name, id, command, err)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Word != nil && (strings.HasPrefix(r.Word.Lit(), "=") || r.Op == syntax.RdrIn) {
			t.Errorf("%s, %s: a shell takes %s in `%s` for a file", name, id, r.Word.Lit(), command)
		}
		return true
	})
}
