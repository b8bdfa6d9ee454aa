package plan

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/resolver"
)

func forWindows() *Plan {
	p := &Plan{Decision: resolver.Install, Target: Target{Dir: "it's ‘mine’", Manager: "uv", InPlace: true}, Told: resolver.Told{Warnings: []string{"a\nb"}}}
	p.Choice = resolver.Choice{Torch: "2.14.1", Build: "cu130", Python: "3.12"}
	p.Basis.Facts = machine.Machine{Platform: machine.Platform{OS: "windows", Arch: "x86_64"}}
	p.Steps = []Step{
		{ID: "venv", Title: "make it", Run: &Run{Argv: []string{"uv", "venv", "--python", "3.12", "{gen}"}, Env: map[string]string{"UV_NO_CONFIG": "1", "HTTPS_PROXY": "http://here:1"}}},
		{ID: "pip", Title: "make it with pip", Run: &Run{Argv: []string{"py", "-3.12", "-m", "venv", "{gen}"}}},
		{ID: "carried", Title: "write", Write: &Write{Path: "{gen}/list.txt", Content: "a==1\n$(calc)'’; calc\n"}},
		{ID: "torch", Title: "install $(calc) `n", Run: &Run{Argv: []string{"uv", "pip", "install", "--python", "{gen}/Scripts/python", "torch==2.14.1+cu130; x"}}},
		{ID: "hand", Title: "by hand", Manual: &Manual{Text: "reboot", Reboot: true}},
		{ID: "verify", Title: "prove", Verify: &Verify{Torch: "2.14.1+cu130", CUDA: "13.0", Imports: []string{"torch"}}},
	}
	return p
}

// Outside text is within single quotes, where PowerShell expands nothing; each
// character that it takes for the end of one is doubled.
func TestPowerShell(t *testing.T) {
	form := PowerShell(forWindows())
	text, err := form.String(), form.Err()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# warning: a b\n",
		"$target = 'it''s ‘‘mine’’'\n",
		"Invoke-Step @{ 'UV_NO_CONFIG' = '1' } $uv @('venv', '--python', '3.12', $gen)\n",
		"@(@('py', '-3.12'), @('python', '-E'), @('python3', '-E'))",
		"Invoke-Step @{} $python @('-m', 'venv', $gen)\n",
		"($gen + '/list.txt')), 'a==1\n$(calc)''’’; calc\n')\n",
		"  Write-Output 'step 4 of 6: install $(calc) `n'\n",
		"($gen + '/Scripts/python'), 'torch==2.14.1+cu130; x')\n",
		"if ($From -le 5) {\n  Write-Output 'step 5 of 6: by hand'\n  Write-Output 'reboot'\n  Write-Output 'then run this script again with -From 6'\n  exit 7\n}\n",
		"assert torch.version.cuda == ''13.0'', torch.version.cuda; devices = [''cuda:'' + str(i) for i in range(torch.cuda.device_count())]; ",
		"or ''the CPU; it sees no GPU here'')')\n}\nWrite-Output 'it''s ‘‘mine’’ is ready: `it''s ‘‘mine’’\\Scripts\\activate` puts it into use'\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	p := forWindows()
	p.Target.Manager = "conda"
	if text := PowerShell(p).String(); !strings.Contains(text, "($gen + '/python') @('-I', '-c',") {
		t.Errorf("conda's Python is in the root of its environment on Windows:\n%s", text)
	}
	if strings.Contains(text, "here:1") {
		t.Error("this machine's proxy is in a script for another one")
	}
}

// What PowerShell could not do as it is meant is refused, not written differently.
func TestPowerShellRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Plan){
		"another system":    func(p *Plan) { p.Basis.Facts.Platform.OS = "linux" },
		"a double quote":    func(p *Plan) { p.Steps[3].Run.Argv[5] = `a"b` },
		"an empty argument": func(p *Plan) { p.Steps[3].Run.Argv[5] = "" },
		"an escape":         func(p *Plan) { p.Steps[3].Run.Argv[5] = "a\x1b[2J" },
		"an escape in DIR":  func(p *Plan) { p.Target.Dir = "a\x07" },
		"root":              func(p *Plan) { p.Steps[0].Root = true },
		"a rename":          func(p *Plan) { p.Steps[0].Run, p.Steps[0].Switch = nil, &Switch{Dir: ".venv"} },
	} {
		p := forWindows()
		spoil(p)
		if form := PowerShell(p); form.Err() == nil {
			text := form.String()
			t.Errorf("%s is written:\n%s", name, text)
		}
	}
}

// What is shown of a step for Windows is a line that PowerShell takes.
func TestPowerShellWords(t *testing.T) {
	r := Run{Argv: []string{`C:\Program Files\uv.exe`, "pip", "install", "torch==2.9.1", "-m.x", "it's"}, Env: map[string]string{"UV_NO_CONFIG": "1"}}
	words, err := r.PowerShellWords()
	want := []string{"$env:UV_NO_CONFIG='1';", `& 'C:\Program Files\uv.exe'`, "pip", "install", "torch==2.9.1", "'-m.x'", "'it''s'"}
	if err != nil || !slices.Equal(words, want) {
		t.Errorf("%q %v, want %q", words, err, want)
	}
	if _, err := (Run{Argv: []string{"python", "-c", `print("x")`}}).PowerShellWords(); err == nil {
		t.Error("a double quote is lost by PowerShell 5.1 and was not refused")
	}
}
