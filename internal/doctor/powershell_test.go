package doctor

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// psTokens splits a line as PowerShell's tokenizer does, as far as our commands go:
// words, 'literal' and "expanding" strings, the separators ; and |. What it does not
// know it refuses: the grammar is smaller than PowerShell's on purpose.
// Source: learn.microsoft.com, about_Parsing, about_Quoting_Rules, about_Operators.
func psTokens(line string) (commands [][]string, err error) {
	var words []string
	var word strings.Builder
	started := false
	end := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	next := func() error {
		end()
		if len(words) == 0 {
			return errors.New("an empty command")
		}
		commands = append(commands, words)
		words = nil
		return nil
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			n := strings.IndexByte(line[i+1:], c)
			if n < 0 {
				return nil, fmt.Errorf("%c is not closed", c)
			}
			text := line[i+1 : i+1+n]
			if c == '"' && strings.ContainsAny(text, "`\\$") && !psVariable.MatchString(text) {
				return nil, fmt.Errorf("%q expands", text)
			}
			word.WriteString(text)
			started = true
			i += n + 1
		case c == ' ':
			end()
		case c == ';' || c == '|':
			if i+1 < len(line) && line[i+1] == c {
				return nil, fmt.Errorf("%c%c is no operator of PowerShell 5.1", c, c)
			}
			if err := next(); err != nil {
				return nil, err
			}
		case strings.IndexByte("<>&(){}@#`", c) >= 0:
			return nil, fmt.Errorf("%c has a meaning of its own", c)
		case c == '$' && !psVariable.MatchString(line[i:]):
			return nil, errors.New("$ is not followed by env: and a name")
		default:
			word.WriteByte(c)
			started = true
		}
	}
	return commands, next()
}

var (
	psVariable = regexp.MustCompile(`^\$env:[A-Za-z_][A-Za-z0-9_]*`)
	psSetting  = regexp.MustCompile(`^\$env:[A-Z][A-Z0-9_]*$`)
	posixSet   = regexp.MustCompile(`^[A-Z][A-Z0-9_]+=`)
)

// psPrograms are what a Windows machine, or what we advise to install there, has.
var psPrograms = []string{
	"python", "py", "pip", "uv", "conda", "mamba", "nvidia-smi", "envfix", "wsl", "winget", "docker", "git", "where.exe", "setx", "set",
	`.\python_embeded\python.exe`, "Remove-Item", "Get-ChildItem", "Get-CimInstance", "Get-Command", "Get-Process", "Stop-Process", "torchrun", "accelerate", "vllm", "ollama", "comfy", "hf",
	"timeout", "poetry", "pixi", "kubectl", "powershell", "taskkill", "nvcc", "dxdiag",
}

// powershellReads reports why PowerShell would not run a line as it is meant.
func powershellReads(line string) error {
	commands, err := psTokens(line)
	if err != nil {
		return err
	}
	for _, c := range commands {
		switch {
		case psSetting.MatchString(c[0]) && (len(c) == 1 || len(c) == 3 && c[1] == "="):
		case posixSet.MatchString(c[0]):
			return fmt.Errorf("%s sets a variable in a shell of POSIX", c[0])
		case !slices.Contains(psPrograms, c[0]):
			return fmt.Errorf("%s is no program that Windows has", c[0])
		}
	}
	return nil
}

func TestPowerShellGrammar(t *testing.T) {
	for _, good := range []string{
		`$env:CUDA_VISIBLE_DEVICES = "0"; python train.py`, `Remove-Item Env:CUDA_VISIBLE_DEVICES`, `$env:CUDA_VISIBLE_DEVICES`,
		`python -m pip install "torch<2.5" --index-url https://download.pytorch.org/whl/cu126`, `.\python_embeded\python.exe -m pip list | where.exe torch`,
		`python -c "import torch; print(torch.__version__, torch.version.cuda)"`,
	} {
		if err := powershellReads(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		`export A=1`, `A=1 python x.py`, `unset CUDA_VISIBLE_DEVICES`, `python a.py && python b.py`, `pip install torch<2.5`, `eval "$(envfix env)"`,
		`python -c "print(1)`, `sudo pip install torch`, `source .venv/bin/activate`, `python x.py 2>/dev/null`, `$HOME/bin/x`, `pip install x;`, ``,
	} {
		if powershellReads(bad) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
