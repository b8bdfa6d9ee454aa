package plan

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"envfix/internal/text"
	"envfix/resolver"
)

// PowerShell returns the steps of a plan for Windows as a script for PowerShell 5.1 or
// newer, that can be read, kept and run without envfix, on this machine or another. It
// stops at the first command that fails and at a step for a person. Its error names
// what cannot be written so.
func PowerShell(p *Plan) (string, error) {
	if p.Basis.Facts.Platform.OS != "windows" {
		return "", errors.New("a PowerShell script is for a plan for Windows; this one is for " + p.Basis.Facts.Platform.OS)
	}
	s := psScript{script{p: p}}
	s.line("# envfix plan " + text.Printable(p.ID))
	s.line("# " + text.Printable(summary(p)))
	for _, w := range p.Warnings {
		s.line("# warning: " + text.Printable(w))
	}
	s.line("# powershell -ExecutionPolicy Bypass -File THIS")
	s.line("param([int]$From = 1) # the step to begin with, after one that is done by hand")
	s.begin()
	if err := errors.Join(p.named(), s.fault); err != nil {
		return "", err
	}
	for i, step := range p.Steps {
		if bringsUV(step) { // done where uv is looked for
			continue
		}
		if s.step(i, step); s.fault != nil {
			return "", fmt.Errorf("step %q: %w", step.ID, s.fault)
		}
	}
	switch {
	case len(p.Steps) > 0:
	case p.Decision == resolver.UpgradeDriver, p.Decision == resolver.PinDriverBranch:
		s.line("[Console]::Error.WriteLine('nothing was done: this needs another driver')")
		s.line("exit 1")
	default:
		s.line("Write-Output 'nothing to do'")
	}
	return s.b.String(), nil
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
	keep := make([]string, len(ofTheMachine))
	for i, name := range ofTheMachine {
		keep[i] = "'" + name + "'"
	}
	s.line("$target = " + s.by(psQuote, s.p.Target.Dir))
	s.line(strings.TrimSuffix(fmt.Sprintf(psBegin, strings.Join(keep, ", ")), "\n"))
	for _, step := range s.p.Steps {
		if step.Run != nil && !bringsUV(step) {
			s.tool(*step.Run)
		}
	}
}

// psUV takes the uv that is there, else brings one with pip into a place of its own.
const psUV = `$found = @(Get-Command uv -CommandType Application -ErrorAction SilentlyContinue)
if ($found.Count -gt 0) { $uv = $found[0].Source } else {
  $uv = Join-Path $tools 'uv\Scripts\uv.exe'
  if (-not (Test-Path -LiteralPath $uv)) {
    $found = @(Get-Command -Name @('py', 'python') -CommandType Application -ErrorAction SilentlyContinue)
    if ($found.Count -eq 0) { throw 'install uv (docs.astral.sh/uv) or Python first' }
    Invoke-Step @{} $found[0].Source @('-m', 'venv', (Join-Path $tools 'uv'))
    Invoke-Step @{ 'PIP_CONFIG_FILE' = 'nul' } (Join-Path $tools 'uv\Scripts\python.exe') @('-I', '-m', 'pip', 'install', '--isolated', '--disable-pip-version-check', '--no-input', '--only-binary', ':all:', 'uv')
  }
}`

// psPython takes the Python of a version that the launcher or PATH has.
const psPython = `$python = ''
foreach ($try in @(@('py', '-%[1]s'), @('python', '-E'), @('python3', '-E'))) {
  $more = $try[1]
  if (-not $python -and (Get-Command $try[0] -CommandType Application -ErrorAction SilentlyContinue)) {
    $said = @(& $try[0] $more -c 'import sys; print(*sys.version_info[:2], sep=chr(46)); print(sys.executable)')
    if ($LASTEXITCODE -eq 0 -and $said.Count -eq 2 -and $said[0] -eq '%[1]s') { $python = $said[1] }
  }
}
if (-not $python) { throw 'install Python %[1]s first' }`

// tool writes, once, how the program is found that r runs.
func (s *psScript) tool(r Run) {
	name := toolOf(r)
	if name == "" || slices.Contains(s.found, name) {
		return
	}
	s.found = append(s.found, name)
	switch name {
	case "uv":
		index := ""
		if to := defaultMirror(s.p.Target.Mirrors); to != "" {
			index = "'--index-url', '" + to + "', "
		}
		s.line(strings.Replace(psUV, "'--only-binary'", index+"'--only-binary'", 1))
	case "python":
		s.line(fmt.Sprintf(psPython, strings.TrimSuffix(s.p.Python, "t")))
	case "conda":
		tool := strings.TrimSuffix(path.Base(strings.ReplaceAll(r.Argv[0], `\`, "/")), ".exe")
		s.line("$found = @(Get-Command " + tool + " -ErrorAction SilentlyContinue)")
		s.line("if ($found.Count -eq 0) { throw 'install " + tool + " first' }")
		s.line("$conda = $found[0].Source")
	}
}

func (s *psScript) step(i int, step Step) {
	s.line("")
	s.line("# " + text.Printable(step.Why))
	s.line(fmt.Sprintf("if ($From -le %d) {", i+1))
	s.line("  Write-Output " + s.by(psQuote, fmt.Sprintf("step %d of %d: %s", i+1, len(s.p.Steps), text.Printable(step.Title))))
	switch {
	case step.Root:
		s.fails(errors.New("what an administrator does is not written for PowerShell"))
	case step.Run != nil:
		s.run(*step.Run)
	case step.Write != nil:
		s.write(*step.Write)
	case step.Manual != nil:
		s.manual(i, step)
	case step.Verify != nil:
		s.verify(*step.Verify)
	default:
		s.fails(errors.New("a step of its kind is not written for PowerShell"))
	}
	s.line("}")
}

func (s *psScript) run(r Run) {
	there := s.elsewhere(r)
	if len(there.Argv) == 0 {
		s.fails(errors.New("no program"))
		return
	}
	var args, variables []string
	for _, a := range there.Argv[1:] {
		args = append(args, s.by(psArgument, a))
	}
	for _, k := range slices.Sorted(maps.Keys(there.Env)) {
		v := there.Env[k]
		if v == "/dev/null" { // no file at all
			v = "nul"
		}
		variables = append(variables, s.by(psQuote, k)+" = "+s.by(psWord, v))
	}
	line := fmt.Sprintf("Invoke-Step @{ %s } %s @(%s)", strings.Join(variables, "; "), s.by(psWord, there.Argv[0]), strings.Join(args, ", "))
	if len(r.Known) > 0 {
		line = "try { " + line + " } catch { Write-Warning 'see whether these are the complaints of the old environment' }"
	}
	s.line("  " + strings.Replace(line, "@{  }", "@{}", 1))
}

// write writes a file without the mark of its encoding, which Set-Content of
// PowerShell 5.1 puts before it.
func (s *psScript) write(w Write) {
	s.line("  [IO.File]::WriteAllText($ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath(" + s.by(psWord, w.Path) + "), " +
		s.by(psQuote, w.Content) + ")")
}

func (s *psScript) manual(i int, step Step) {
	s.line("  Write-Output " + s.by(psQuote, text.Printable(step.Manual.Text)))
	if i+1 < len(s.p.Steps) {
		s.line(fmt.Sprintf("  Write-Output 'then run this script again with -From %d'", i+2))
	}
	s.line(fmt.Sprintf("  exit %d", step.Manual.exit()))
}

// verify writes the short form of the proof. Its Python has no double quote in it:
// PowerShell 5.1 takes those out of what it gives a program.
func (s *psScript) verify(v Verify) {
	variables := "@{}"
	if v.CUDAVisible != "" {
		variables = "@{ 'CUDA_VISIBLE_DEVICES' = " + s.by(psQuote, v.CUDAVisible) + " }"
	}
	s.line("  Invoke-Step " + variables + " ($gen + '/Scripts/python') @('-I', '-c', " + s.by(psArgument, strings.ReplaceAll(proofCode(v), `"`, "'")) + ")")
}

// PowerShellWords returns r as the words of one line of PowerShell, its variables first;
// placeholders become "$gen", "$tools" … as in [Run.Words]. Its error names an argument
// that PowerShell 5.1 cannot give a program.
func (r Run) PowerShellWords() ([]string, error) {
	var quoted quoter
	var words []string
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, "$env:"+k+"="+quoted.by(psQuote, r.Env[k])+";")
	}
	for i, a := range r.Argv {
		if psPlain(a) {
			words = append(words, a)
			continue
		}
		q := quoted.by(psArgument, a)
		if i == 0 {
			q = "& " + q
		}
		words = append(words, q)
	}
	return words, quoted.fault
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
func psArgument(s string) (string, error) {
	if s == "" || strings.Contains(s, `"`) || strings.HasSuffix(s, `\`) {
		return "", fmt.Errorf("%q cannot be given to a program by PowerShell 5.1", s)
	}
	return psWord(s)
}

// psWord returns s as one PowerShell expression; "{gen}", "{tools}" … become the
// script's variables.
func psWord(s string) (string, error) {
	var quoted quoter
	var parts []string
	for s != "" {
		at, name := nextPlaceholder(s)
		if piece := s[:at]; piece != "" {
			parts = append(parts, quoted.by(psQuote, piece))
		}
		if name == "" {
			break
		}
		parts = append(parts, "$"+name)
		s = s[at+len(name)+2:]
	}
	switch len(parts) {
	case 0:
		return "''", nil
	case 1:
		return parts[0], quoted.fault
	}
	return "(" + strings.Join(parts, " + ") + ")", quoted.fault
}

// psQuote returns s as one string in single quotes, in which nothing is expanded.
func psQuote(s string) (string, error) {
	q, err := text.PowerShell(s)
	return q.String(), err
}
