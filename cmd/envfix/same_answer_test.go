package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"testing"

	"envfix/internal/cmdline"
	"envfix/internal/describe"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/mcpserver"
	"envfix/internal/page"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/urfave/cli/v2"
)

// A drawnCase is a machine and the directory in which it is asked about.
type drawnCase struct {
	words             describe.Machine
	python            string
	policy, project   string // texts of envfix.toml and .python-version; "" none
	locked            bool
	torch, installed  string // of the paste: its version; its build
	machine           machine.Machine
	matrix            *matrix.Matrix
	session           *mcp.ClientSession
	lastLine, lastOut string // for the message of a failure
}

func drawCase(t *testing.T, rnd *rand.Rand) drawnCase {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	d := drawnCase{
		words: describe.Machine{GPUs: []string{pick("V100", "T4", "A100", "RTX 3090", "RTX 4090", "H100", "RTX 5090", "GTX 1080", "K80", "none")},
			Driver: pick("470.256.02", "525.147.05", "550.163.01", "570.211.01", "580.95.05", "595.71.05"), OS: pick("linux", "linux", "linux", "windows"),
			Arch: "x86_64"},
		python: pick("3.10", "3.11", "3.12", "3.13"),
		policy: pick("", "", `indexes = ["default"]`, `indexes = ["pytorch"]`, `indexes = ["https://mirror.example/simple"]`, `cuda = ["12.6"]`, `cuda = ["13"]`,
			`least-driver = 570`, "indexes = [\"pytorch\"]\ncuda = [\"12\"]", `never = ["torchvision"]`),
		project: pick("", "", "", "3.11", "3.12"),
		locked:  rnd.IntN(5) == 0,
		torch:   pick("2.4.1", "2.6.0", "2.9.0", "2.11.0"), installed: pick("cpu", "cpu", "cu118", "cu128"),
	}
	if d.words.OS == "linux" {
		d.words.Libc = "glibc-" + pick("2.28", "2.35", "2.39")
	}
	if d.words.GPUs[0] == "none" {
		d.words.Driver = ""
	}
	d.machine = page.Base()
	if err := d.words.Override(&d.machine); err != nil {
		t.Fatal(err)
	}
	d.machine.Tools = nil // as below the empty root that apply finds its programs in
	return d
}

// write makes the directory of the case, which becomes the one that is asked in.
func (d *drawnCase) write(t *testing.T) {
	t.Chdir(t.TempDir())
	b, err := json.Marshal(d.machine)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, "facts.json", string(b))
	if d.policy != "" {
		writeText(t, "envfix.toml", "[policy]\n"+d.policy+"\n")
	}
	if d.project != "" {
		writeText(t, ".python-version", d.project+"\n")
	}
	if d.locked {
		d.locked = d.writeLock(t)
	}
	system := "OS: Ubuntu 22.04.4 LTS (x86_64)\nLibc version: " + d.words.Libc
	if d.words.OS == "windows" {
		system = "OS: Microsoft Windows 11 Pro (10.0.22631 64-bit)\nLibc version: N/A"
	}
	gpu, driver := strings.TrimSuffix("GPU 0: NVIDIA "+d.words.GPUs[0], "GPU 0: NVIDIA none"), d.words.Driver
	writeText(t, "paste.txt", fmt.Sprintf("PyTorch version: %s+%s\n%s\nPython version: %s.3 (64-bit runtime)\n"+
		"Is CUDA available: False\nGPU models and configuration: %s\nNvidia driver version: %s\n",
		d.torch, d.installed, system, d.python, gpu, driver))
}

// writeLock locks a torch that is not the newest for the machine; false where none fits.
func (d *drawnCase) writeLock(t *testing.T) bool {
	torch, err := describe.Requirement("torch<2.11")
	if err != nil {
		t.Fatal(err)
	}
	r := resolver.Request{Described: true, Python: d.python, Requirements: []pep508.Requirement{torch}}
	res, err := planning.Question{Matrix: d.matrix, Machine: d.machine, Request: r}.Choose()
	if err != nil {
		t.Fatal(err)
	}
	c := res.Choice
	if c == nil || res.Decision != resolver.Install && res.Decision != resolver.InstallCPU {
		return false
	}
	version := c.Packages["torch"]
	file := fmt.Sprintf("torch-%s-cp3-cp3-any.whl", version)
	match := lock.Match{OS: d.machine.Platform.OS, Arch: d.machine.Platform.Arch, GPU: lock.GPUKind(d.machine)}
	for _, g := range d.machine.GPUs {
		match.SMs = append(match.SMs, g.SM.String())
	}
	packages := lock.Packages{LockVersion: "1.0", CreatedBy: "envfix", RequiresPython: "==" + d.python + ".*",
		Environments: []string{lock.Markers(match, d.python)}, Packages: []lock.Package{{Name: "torch", Version: version,
			Wheels: []lock.Wheel{{Name: file, URL: "https://mirror.example/" + strings.ReplaceAll(file, "+", "%2B"), Size: 1, Hashes: lock.Hashes{SHA256: strings.Repeat("a", 64)}}}}}}
	b, err := packages.Encode()
	if err != nil {
		t.Fatal(err)
	}
	p := lock.Profile{Name: "drawn", Torch: version, Build: c.Build, CUDA: c.CUDA, Python: d.python, Match: match, Driver: lock.Driver{Policy: "none"},
		Pylock: lock.Pylock{File: lock.PylockName("drawn"), SHA256: lock.Sum(b)}, Size: lock.Size{Download: 1}, Hosts: []string{"mirror.example"}, Verify: []string{"torch imports"}}
	l := lock.Lock{Schema: lock.Schema, RequiresEnvfix: ">=0.0.1", Matrix: lock.Matrix{Version: d.matrix.Version, SHA256: d.matrix.SHA256},
		Input: lock.Input{Requirements: []string{"torch"}, Targets: []lock.Target{{Name: "drawn", Facts: "os=" + match.OS}}}, Profiles: []lock.Profile{p}}
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, lock.PylockName("drawn"), string(b))
	writeText(t, lock.File, string(text))
	return true
}

// A told is what one of the commands says: the combination, "" where it refuses.
type told struct{ decision, torch, build, python string }

func toldBy(p *plan.Plan, err error) told {
	if err != nil || refusal(p) != nil {
		return told{decision: "refused"}
	}
	c := &p.Choice
	if p.Choice.Torch == "" && p.Then != nil {
		c = p.Then
	}
	return told{string(p.Decision), c.Torch, c.Build, c.Python}
}

// runHere runs a command in this process and returns what it printed; asked gets what a
// plan would be made from, in place of running it.
func (d *drawnCase) runHere(t *testing.T, asked func(*cli.Context) error, args ...string) (string, error) {
	var out bytes.Buffer
	cmds := commands()
	in, err := cmdline.Parse(append([]string{"envfix"}, args...), cmds)
	if err != nil {
		t.Fatal(args, err)
	}
	if asked != nil {
		in.Command().Action = asked
	}
	app := &cli.App{Name: "envfix", Commands: cmds, Writer: &out, DisableSliceFlagSeparator: true, ExitErrHandler: func(*cli.Context, error) {}}
	err = app.RunContext(t.Context(), in.Argv)
	d.lastLine, d.lastOut = strings.Join(args, " "), out.String()
	return out.String(), err
}

// planned is what `envfix plan` and more arguments say.
func (d *drawnCase) planned(t *testing.T, args ...string) told {
	out, err := d.runHere(t, nil, append([]string{"plan", "--json"}, args...)...)
	p, derr := plan.Decode([]byte(out))
	if derr != nil {
		return told{decision: "refused"}
	}
	return toldBy(p, err)
}

func (d *drawnCase) args() []string { return append(d.words.Args(), "--python", d.python) }

// check asks all of them.
func (d *drawnCase) check(t *testing.T) {
	want := d.planned(t, "--facts", "facts.json")
	facts := planFlags{machine: machineFlags{facts: "facts.json", words: describe.Machine{Whole: true}}, target: placeFlags{place: place.Place{Dir: place.Default}, env: place.Default}}
	var home bytes.Buffer
	err := facts.home(t.Context(), &home)
	if says := strings.Join(strings.Fields(home.String()), " "); want.decision == "refused" && err == nil && strings.Contains(says, "`envfix apply` shows the plan") ||
		err == nil && strings.Contains(says, "carries it out: torch ") && !strings.Contains(says, fmt.Sprintf("carries it out: torch %s, build %s", want.torch, want.build)) {
		t.Errorf("envfix alone, where plan says %v:\n%s", want, home.String())
	}
	var applied told
	if _, err := d.runHere(t, func(c *cli.Context) error {
		f, err := applyOf(c)
		if err == nil {
			applied = toldBy(f.made.make(c.Context))
		}
		return err
	}, "apply", "--facts", "facts.json", "--offline"); err != nil || applied != want {
		t.Errorf("apply: %v, %v; plan says %v", applied, err, want)
	}
	said := d.planned(t, d.args()...)
	d.checkServer(t, said)
	if d.policy == "" && d.project == "" && !d.locked {
		a := page.Ask(d.matrix, page.Words{Machine: d.words, Request: describe.Request{Python: d.python}, Today: today()})
		got := told{decision: "refused"}
		if c := cmp.Or(a.Decided.Choice, a.Decided.Then); c != nil && a.Error == nil {
			got = told{string(a.Decided.Decision), c.Torch, c.Build, c.Python}
		}
		if got != said {
			t.Errorf("the page: %v; plan says %v", got, said)
		}
	}
	if d.words.GPUs[0] != "none" { // of a paste that names none doctor assumes one, and says which
		d.checkRemedies(t)
	}
}

// checkServer asks the tool of `envfix mcp`.
func (d *drawnCase) checkServer(t *testing.T, want told) {
	r, err := d.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "plan", Arguments: map[string]any{"gpu": d.words.GPUs, "driver": d.words.Driver,
		"os": d.words.OS, "arch": d.words.Arch, "libc": d.words.Libc, "python": d.python}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	got := b.String()
	if want.torch != "" && !strings.Contains(got, want.torch) || want.decision == "refused" && strings.Contains(got, "\nsteps ") {
		t.Errorf("mcp, where plan says %v:\n%s", want, got)
	}
}

var (
	pipInstall = regexp.MustCompile("`(?:uv )?(?:python -m )?pip install ([^`]*)`([^\n]*)")
	torchAsks  = regexp.MustCompile(`\btorch(?:==([0-9.]+))?(?:\s|$)`)
	itsBuild   = regexp.MustCompile(`the default index has its (\w+) build`)
)

// checkRemedies tries every command that doctor prints of a paste from this machine:
// `envfix plan` must not refuse the same.
func (d *drawnCase) checkRemedies(t *testing.T) {
	out, err := d.runHere(t, nil, "doctor", "--json", "--from", "paste.txt")
	var report struct {
		Findings []struct{ Fix []string }
	}
	if jerr := json.Unmarshal([]byte(out), &report); jerr != nil {
		t.Fatalf("%v, %v: %s", jerr, err, out)
	}
	for _, f := range report.Findings {
		for _, fix := range f.Fix {
			for _, m := range pipInstall.FindAllStringSubmatch(fix, -1) {
				words := torchAsks.FindStringSubmatch(m[1])
				if words == nil {
					continue
				}
				args := append(d.args(), "--no-lock", "torch")
				if words[1] != "" {
					args[len(args)-1] += "==" + words[1]
				}
				if _, url, own := strings.Cut(m[1], "--index-url "); own {
					args = append(args, "--only-index", "pytorch", "--build", path.Base(strings.Fields(url)[0]))
				} else if build := itsBuild.FindStringSubmatch(m[2]); build != nil {
					args = append(args, "--only-index", "default", "--build", build[1])
				}
				if got := d.planned(t, args...); got.decision == "refused" {
					t.Errorf("doctor says %q, and `envfix %s` refuses it", fix, strings.Join(args, " "))
				}
			}
		}
	}
}

// Whoever is asked says the same of the same machine under the same policy, lock and
// project, without a network: envfix alone, plan, apply, doctor's remedies, the page and
// the tool of an assistant.
func TestSameAnswer(t *testing.T) {
	t.Setenv("ENVFIX_NVML", "off")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("ENVFIX_ROOT", t.TempDir())
	m := matrixFor()
	var d drawnCase
	server := mcpserver.New(mcpserver.Options{Version: "1", Run: func(_ context.Context, _ string, args ...string) (string, error) {
		out, err := d.runHere(t, nil, args...)
		if out == "" && err != nil {
			out = err.Error()
		}
		return out, nil
	}})
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	rnd := rand.New(rand.NewPCG(28, 3))
	said, followed := map[told]bool{}, 0
	for i := range 300 {
		d = drawCase(t, rnd)
		d.matrix, d.session = m, session
		ok := t.Run(fmt.Sprint(i), func(t *testing.T) {
			d.write(t)
			d.check(t)
			answer := d.planned(t, "--facts", "facts.json")
			if said[answer] = true; d.locked && answer.torch != "" {
				followed++
			}
		})
		if !ok {
			t.Logf("%d: %v, Python %s, policy %q, project %q, locked %t, torch %s+%s", i, d.words, d.python, d.policy, d.project, d.locked, d.torch, d.installed)
		}
	}
	if len(said) < 20 || followed < 10 {
		t.Errorf("300 cases have %d answers, %d of a lock", len(said), followed)
	}
}
