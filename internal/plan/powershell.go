package plan

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/text"
)

// PowerShell returns the steps of a plan for Windows as a script for PowerShell 5.1 or
// newer, that can be read, kept and run without envfix, on this machine or another. It
// stops at the first command that fails and at a step for a person. Its error names
// what cannot be written so.
func PowerShell(p *Plan) text.Quoted {
	if p.Basis.Facts.Platform.OS != "windows" {
		return text.Fail(errors.New("a PowerShell script is for a plan for Windows; this one is for " + p.Basis.Facts.Platform.OS + ": `--sh` prints its script"))
	}
	s := psScript{script{p: p}}
	s.head()
	s.Add("# powershell -ExecutionPolicy Bypass -File THIS\nparam([int]$From = 1) # the step to begin with, after one that is done by hand\n")
	s.begin()
	for i, step := range p.Steps {
		if !bringsUV(step) { // done where uv is looked for
			s.step(i, step)
		}
	}
	switch {
	case p.proves():
		s.Add("Write-Output %s\n", text.PowerShell(p.ready()))
	case len(p.Steps) > 0:
	case p.Waits():
		s.Add("[Console]::Error.WriteLine('nothing was done: this needs another driver')\nexit 1\n")
	default:
		s.Add("Write-Output 'nothing to do'\n")
	}
	return s.Quoted()
}

type psScript struct{ script }

// psBegin runs a program with the step's variables and none of the user's own that
// would change what it does, and ends the script where it fails.
const psBegin = `function Set-EnvironmentVariable {
  param([string]$Name, $Value)
  if ($null -eq $Value) { Remove-Item -LiteralPath ('Env:' + $Name) -ErrorAction SilentlyContinue } else { Set-Item -LiteralPath ('Env:' + $Name) -Value $Value }
}
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$gen = $target
$tools = Join-Path $env:LOCALAPPDATA 'envfix\tools'
$keep = %s
function Invoke-Step {
  param([hashtable]$Variables, [string]$Program, [string[]]$Arguments)
  $before = @{}
  foreach ($entry in @(Get-ChildItem Env:)) {
    if ($entry.Name -match '^(PIP_|UV_|PYTHON|CONDA_PREFIX$|VIRTUAL_ENV$)' -and $keep -notcontains $entry.Name) {
      $before[$entry.Name] = $entry.Value
      Set-EnvironmentVariable $entry.Name $null
    }
  }
  foreach ($name in $Variables.Keys) {
    if (-not $before.ContainsKey($name)) { $before[$name] = [Environment]::GetEnvironmentVariable($name) }
    Set-EnvironmentVariable $name $Variables[$name]
  }
  try {
    & $Program @Arguments
    if ($LASTEXITCODE -ne 0) { throw ($Program + ' ended with ' + $LASTEXITCODE) }
  } finally {
    foreach ($name in $before.Keys) { Set-EnvironmentVariable $name $before[$name] }
  }
}
`

func (s *psScript) begin() {
	s.Add("$target = %s\n", text.PowerShell(s.p.Target.Dir))
	s.Add(psBegin, text.Join(text.Each(ofTheMachine, text.PowerShell), ", "))
	s.programs(s.tool)
}

// psUV takes the uv that is there, else brings one with pip into a place of its own.
const psUV = `$found = @(Get-Command uv -CommandType Application -ErrorAction SilentlyContinue)
if ($found.Count -gt 0) { $uv = $found[0].Source } else {
  $uv = Join-Path $tools 'uv\Scripts\uv.exe'
  if (-not (Test-Path -LiteralPath $uv)) {
    $found = @(Get-Command -Name @('py', 'python') -CommandType Application -ErrorAction SilentlyContinue)
    if ($found.Count -eq 0) { throw 'install uv (docs.astral.sh/uv) or Python first' }
    Invoke-Step @{} $found[0].Source @('-m', 'venv', (Join-Path $tools 'uv'))
    Invoke-Step @{ 'PIP_CONFIG_FILE' = 'nul' } (Join-Path $tools 'uv\Scripts\python.exe') @('-I', '-m', 'pip', 'install', '--isolated', '--disable-pip-version-check', '--no-input', %s'--only-binary', ':all:', 'uv')
  }
}
`

// psPython takes the Python of a version that the launcher or PATH has.
const psPython = `$python = ''
foreach ($try in @(@('py', '-%[1]s'), @('python', '-E'), @('python3', '-E'))) {
  $more = $try[1]
  if (-not $python -and (Get-Command $try[0] -CommandType Application -ErrorAction SilentlyContinue)) {
    $said = @(& $try[0] $more -c 'import sys; print(*sys.version_info[:2], sep=chr(46)); print(sys.executable)')
    if ($LASTEXITCODE -eq 0 -and $said.Count -eq 2 -and $said[0] -eq '%[1]s') { $python = $said[1] }
  }
}
if (-not $python) { throw 'install Python %[1]s first' }
`

// tool writes how the program is found that r runs.
func (s *psScript) tool(name string, r Run) {
	switch name {
	case "uv":
		var index text.Doc
		for _, w := range defaultMirror(s.p.Target.Mirrors) {
			index.Add("%s, ", text.PowerShell(w))
		}
		s.Add(psUV, index.Quoted())
	case "python":
		s.Add(psPython, text.Word(strings.TrimSuffix(s.p.Python, "t")))
	case "conda":
		tool := strings.TrimSuffix(path.Base(strings.ReplaceAll(r.Argv[0], `\`, "/")), ".exe")
		s.Add(`$found = @(Get-Command %[1]s -ErrorAction SilentlyContinue)
if ($found.Count -eq 0) { throw 'install %[1]s first' }
$conda = $found[0].Source
`, text.Word(tool))
	}
}

func (s *psScript) step(i int, step Step) {
	s.Add("\n# %s\nif ($From -le %s) {\n  Write-Output %s\n", text.Comment(step.Why), text.Int(i+1), text.PowerShell(s.title(i)))
	switch {
	case step.Root:
		s.refuse(fmt.Errorf("step %q: what an administrator does is not written for PowerShell", step.ID))
	case step.Run != nil:
		s.run(*step.Run)
	case step.Write != nil:
		// without the mark of its encoding, which Set-Content of PowerShell 5.1 puts before it
		s.Add("  [IO.File]::WriteAllText($ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath(%s), %s)\n",
			psWord(step.Write.Path), text.PowerShell(step.Write.Content))
	case step.Manual != nil:
		s.manual(i, step)
	case step.Verify != nil:
		s.verify(*step.Verify)
	default:
		s.refuse(fmt.Errorf("step %q: a step of its kind is not written for PowerShell", step.ID))
	}
	s.Add("}\n")
}

func (s *psScript) run(r Run) {
	there := s.elsewhere(r)
	var variables []text.Quoted
	for _, k := range slices.Sorted(maps.Keys(there.Env)) {
		v := there.Env[k]
		if v == "/dev/null" { // no file at all
			v = "nul"
		}
		variables = append(variables, text.Form(" %s = %s", text.PowerShell(k), psWord(v)))
	}
	if len(variables) > 0 {
		variables[len(variables)-1] = text.Form("%s ", variables[len(variables)-1])
	}
	args := text.Join(text.Each(there.Argv[1:], psArgument), ", ")
	line := text.Form("Invoke-Step @{%s} %s @(%s)", text.Join(variables, ";"), psWord(there.Argv[0]), args)
	if len(r.Known) > 0 {
		line = text.Form("try { %s } catch { Write-Warning 'see whether these are the complaints of the old environment' }", line)
	}
	s.Add("  %s\n", line)
}

func (s *psScript) manual(i int, step Step) {
	s.Add("  Write-Output %s\n", text.PowerShell(text.Printable(step.Manual.Text)))
	if i+1 < len(s.p.Steps) {
		s.Add("  Write-Output 'then run this script again with -From %s'\n", text.Int(i+2))
	}
	s.Add("  exit %s\n", text.Int(step.Manual.exit()))
}

// verify writes the short form of the proof. Its Python has no double quote in it:
// PowerShell 5.1 takes those out of what it gives a program.
func (s *psScript) verify(v Verify) {
	var visible text.Quoted
	if v.CUDAVisible != "" {
		visible = text.Form(" 'CUDA_VISIBLE_DEVICES' = %s ", text.PowerShell(v.CUDAVisible))
	}
	s.Add("  Invoke-Step @{%s} ($gen + '/%s') @('-I', '-c', %s)\n", visible, text.Word(s.p.Interpreter()),
		psArgument(strings.ReplaceAll(proofCode(v, s.p.Installs().Build), `"`, "'")))
}

// PowerShellWords returns r as the words of one line of PowerShell, its variables first;
// placeholders become "$gen", "$tools" … as in [Run.Words]. Its error names an argument
// that PowerShell 5.1 cannot give a program.
func (r Run) PowerShellWords() ([]string, error) {
	words := text.Each(slices.Sorted(maps.Keys(r.Env)), func(k string) text.Quoted {
		return text.Form("$env:%s=%s;", text.Word(k), text.PowerShell(r.Env[k]))
	})
	for i, a := range r.Argv {
		q := psArgument(a)
		switch {
		case psPlain(a):
			q = text.Word(a)
		case i == 0:
			q = text.Form("& %s", q)
		}
		words = append(words, q)
	}
	return shown(words)
}

// psPlain reports whether PowerShell gives a program a word as it stands. It cuts what
// looks like a parameter of its own at a point or a colon ("-m.x").
func psPlain(s string) bool {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/=+-"
	if !strings.HasPrefix(s, "-") {
		return s != "" && strings.Trim(s, safe+".:") == ""
	}
	return strings.Trim(s, safe) == ""
}

// psArgument is psWord for an argument of a program. PowerShell 5.1 loses those that
// are empty, and double quotes.
func psArgument(s string) text.Quoted {
	if s == "" || strings.Contains(s, `"`) || strings.HasSuffix(s, `\`) {
		return text.Fail(fmt.Errorf("%q cannot be given to a program by PowerShell 5.1", s))
	}
	return psWord(s)
}

// psWord returns s as one PowerShell expression; "{gen}", "{tools}" … become the
// script's variables.
func psWord(s string) text.Quoted {
	var parts []text.Quoted
	for s != "" {
		at, name := nextPlaceholder(s)
		if at > 0 {
			parts = append(parts, text.PowerShell(s[:at]))
		}
		if name != "" {
			parts = append(parts, text.Form("$%s", text.Word(name)))
			at += len(name) + 2
		}
		s = s[at:]
	}
	switch len(parts) {
	case 0:
		return text.PowerShell("")
	case 1:
		return parts[0]
	}
	return text.Form("(%s)", text.Join(parts, " + "))
}
