package plan

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"envfix/internal/machine"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// sample has every kind of step, and text that a shell or a terminal could
// mistake for something else.
func sample(t testing.TB) *Plan {
	t.Helper()
	index := "https://download.pytorch.org/whl/cu126"
	p := &Plan{
		Decision: resolver.FixDriver,
		Choice:   resolver.Choice{Torch: "2.14.1", Build: "cu126", Python: "3.12", Index: &index, Packages: map[string]string{"torch": "2.14.1+cu126"}},
		Driver:   Driver{Action: "install", Branch: new("580")},
		Told:     resolver.Told{Warnings: []string{"a name: $(touch pwned)\n# and a line"}},
		Target:   Target{Dir: "my env's/.venv", Manager: "uv"},
		Steps: []Step{
			{ID: "driver", Title: "install the driver", Why: "none is\nhere", Root: true, Run: &Run{Argv: []string{"apt-get", "install", "-y", "nvidia-driver-580-open"}, Env: map[string]string{"DEBIAN_FRONTEND": "noninteractive"}}},
			{ID: "reboot", Title: "reboot", Why: "the module must be loaded", Manual: &Manual{Text: "reboot", Reboot: true}},
			{ID: "venv", Title: "make `it`", Why: "w", Run: &Run{Argv: []string{"{tools}/uv/bin/uv", "venv", "{gen}"}}},
			{ID: "torch", Title: "install", Why: "w", Run: &Run{Argv: []string{"uv", "pip", "install", "--python", "{gen}/bin/python", "torch==2.14.1+cu126", "x ; python_version < '3.13'", "$(touch pwned)", "a\nb", ""}}, Bytes: 1},
			{ID: "activate", Title: "block", Why: "w", Block: &Block{Path: "{gen}/bin/activate", Name: "envfix", Lines: []string{"x='1'"}}},
			{ID: "write", Title: "write", Why: "w", Write: &Write{Path: "a file", Mode: 0o600, Content: "one\n'two'\n"}},
			{ID: "verify", Title: "verify", Why: "w", Verify: &Verify{Torch: "2.14.1+cu126", CUDA: "12.6", GPUs: 2, Imports: []string{"torch", "torchvision"}, CUDAVisible: "GPU-1,GPU-2"}},
			{ID: "switch", Title: "switch", Why: "w", Switch: &Switch{Dir: ".venv"}},
		},
		Basis: Basis{Facts: machine.Machine{Format: 1, Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}},
	}
	if err := Seal(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t testing.TB, p *Plan) []byte {
	t.Helper()
	b, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	p := sample(t)
	b := encode(t, p)
	q, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(encode(t, q))); diff != "" {
		t.Error(diff)
	}
}

// What a terminal acts on is escaped in the JSON, and comes back as it was.
func TestEncodedTextIsVisible(t *testing.T) {
	p := sample(t)
	name := "\x1b[31m \u009b31m \u202e \U000e0041 é"
	p.Steps[0].Title = name
	if err := Seal(p); err != nil {
		t.Fatal(err)
	}
	b := encode(t, p)
	if bytes.ContainsFunc(b, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("an invisible character in %q", b)
	}
	q, err := Decode(b)
	if err != nil || q.Steps[0].Title != name {
		t.Errorf("%v: %q", err, q.Steps[0].Title)
	}
}

// The id is over everything else, and over nothing else.
func TestID(t *testing.T) {
	p := sample(t)
	again := sample(t)
	if p.ID != again.ID || !strings.HasPrefix(p.ID, "sha256:") || len(p.ID) != len("sha256:")+64 {
		t.Errorf("ids of equal plans: %s, %s", p.ID, again.ID)
	}
	again.Steps[3].Run.Argv[5] = "torch==2.14.1+cu128"
	if err := Seal(again); err != nil {
		t.Fatal(err)
	}
	if again.ID == p.ID {
		t.Error("two plans that install different builds have one id")
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(encode(t, sample(t)))
	for _, test := range []struct {
		name, text, want string
	}{
		{"empty", "", "it is empty"},
		{"blank", " \n", "it is empty"},
		{"truncated", good[:len(good)/2], "it is truncated: its JSON ends too early"},
		{"not JSON", "torch==2.9", "it is not JSON: invalid character 'o' in literal true (expecting 'r') at byte 2"},
		{"not UTF-8", "{\"format\": 1, \"decision\": \"\xff\"}", "it is not UTF-8 text"},
		{"too large", strings.Repeat(" ", MaxBytes) + "{}", "it is larger than 4 MiB, which no plan is"},
		{"something else", `{"format": 1, "gpus": []}`, "it is JSON, and not a plan"},
		{"a newer format", strings.Replace(good, `"format": 1`, `"format": 2`, 1), "it has format 2, and this envfix reads format 1: a newer envfix is needed"},
		{"an unknown field", strings.Replace(good, `"decision"`, `"surprise": 1, "decision"`, 1), `json: unknown field "surprise"`},
		{"an unknown kind of step", strings.Replace(good, `"switch": {`, `"reflash": {`, 1), `json: unknown field "reflash"`},
		{"two kinds in one step", strings.Replace(good, `"switch": {`, `"manual": {"text": "x"}, "switch": {`, 1), `step "switch" has 2 kinds of action instead of one: a newer envfix may be needed`},
		{"a step that runs nothing", strings.Replace(good, `"{tools}/uv/bin/uv",
          "venv",
          "{gen}"`, "", 1), `step "venv" runs nothing`},
		{"edited", strings.Replace(good, "nvidia-driver-580-open", "nvidia-driver-590-open", 1), ErrChanged.Error()},
		{"two documents", "{}{}", "it is not JSON: invalid character '{' after top-level value at byte 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Decode([]byte(test.text))
			if err == nil {
				t.Fatalf("accepted as %s", p.ID)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if test.name == "edited" && !errors.Is(err, ErrChanged) {
				t.Error("not ErrChanged")
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, sample(f)))
	f.Add([]byte(`{"format": 1, "decision": "install", "steps": [{"id": "x", "run": {"argv": ["a"]}}]}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(encode(t, p))
		if err != nil || again.ID != p.ID {
			t.Fatalf("accepted, and its own encoding is not: %v", err)
		}
		if form := Script(p); form.Err() == nil {
			text := form.String()
			parseScript(t, text)
		}
	})
}

func parseScript(t testing.TB, text string) *syntax.File {
	t.Helper()
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "plan.sh")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func TestScript(t *testing.T) {
	form := Script(sample(t))
	text, err := form.String(), form.Err()
	if err != nil {
		t.Fatal(err)
	}
	parseScript(t, text)
	golden := filepath.Join("testdata", "script.sh")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Error(diff)
	}
}

// A real shell runs exactly the planned argv, whatever it holds.
func TestScriptRunsThePlannedArguments(t *testing.T) {
	dir := t.TempDir()
	p := sample(t)
	p.Target.Dir = filepath.Join(dir, "it's .venv")
	argv := []string{"/usr/bin/printf", `[%s]`, "a b", "it's", "$(touch pwned)", "`x`", "a\nb", "\\", "-n", "*", "~", "{gen}/bin", "é"}
	p.Steps = []Step{{ID: "one", Title: "show $(touch pwned)", Why: "w", Run: &Run{Argv: argv, Env: map[string]string{"X": "$(touch pwned)"}}}}
	form := Script(p)
	text, err := form.String(), form.Err()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	_, got, _ := strings.Cut(string(out), "\n")
	gen, rest, _ := strings.Cut(got[strings.Index(got, dir):], "/bin]")
	want := "[a b][it's][$(touch pwned)][`x`][a\nb][\\][-n][*][~][" + gen + "/bin]" + rest
	if diff := cmp.Diff(want, got); diff != "" || rest != "[é]" {
		t.Errorf("%s rest %q", diff, rest)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a name was run as a command")
	}
}

// The script stops at a step for a person and goes on behind it; a link that an
// earlier run left, and an environment that is a directory, are no obstacle.
func TestScriptGoesOnBehindAStepByHand(t *testing.T) {
	dir := t.TempDir()
	p := sample(t)
	p.Target.Dir = ".venv"
	p.Steps = []Step{
		{ID: "driver", Title: "install the driver", Why: "w", Run: &Run{Argv: []string{"touch", "driver"}}},
		{ID: "reboot", Title: "reboot", Why: "w", Manual: &Manual{Text: "reboot", Reboot: true}},
		{ID: "venv", Title: "make it", Why: "w", Run: &Run{Argv: []string{"mkdir", "-p", "{gen}/bin"}}},
		{ID: "switch", Title: "switch", Why: "w", Switch: &Switch{Dir: ".venv"}},
	}
	form := Script(p)
	text, err := form.String(), form.Err()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".venv"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".venv", filepath.Join(dir, ".venv.next")); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, int) {
		cmd := exec.Command("sh", append([]string{"-c", text, "sh"}, args...)...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run()
	want := "step 1 of 4: install the driver\nstep 2 of 4: reboot\nthen run this script again with the argument 3\n"
	if diff := cmp.Diff(want, out); diff != "" || code != 7 {
		t.Errorf("exit %d: %s", code, diff)
	}
	if err := os.Remove(filepath.Join(dir, "driver")); err != nil {
		t.Error(err)
	}
	if out, code := run("3"); code != 0 || out != "step 3 of 4: make it\nstep 4 of 4: switch\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	to, err := os.Readlink(filepath.Join(dir, ".venv"))
	if err != nil || filepath.Dir(to) != filepath.Join(dir, ".envfix", "gens") {
		t.Errorf(".venv is %q: %v", to, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "driver")); err == nil {
		t.Error("a step before the argument ran again")
	}
}

func TestScriptWithoutSteps(t *testing.T) {
	p := sample(t)
	p.Decision, p.Torch, p.Steps = resolver.UpgradeDriver, "", nil
	p.Then = &resolver.Choice{Torch: "2.15.0", Build: "cu132"}
	form := Script(p)
	text, err := form.String(), form.Err()
	if err != nil {
		t.Fatal(err)
	}
	parseScript(t, text)
	for _, want := range []string{"# upgrade_driver: driver branch 580, then torch 2.15.0, build cu132\n", "plan --change-driver", "\nexit 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestWords(t *testing.T) {
	words, err := Run{Argv: []string{"uv", "{gen}/bin/python", "torch==2.9.1+cu126", "a b", "=x", ""}, Env: map[string]string{"B": "2", "A": "1 1"}}.Words()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A='1 1'", "B=2", "uv", `"$gen"/bin/python`, "torch==2.9.1+cu126", "'a b'", "'=x'", "''"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	if _, err := (Run{Argv: []string{"a\x00b"}}).Words(); err == nil {
		t.Error("a NUL byte was accepted")
	}
}
