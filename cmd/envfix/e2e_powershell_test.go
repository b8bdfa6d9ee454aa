package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// parsePowerShell reads each named script with the grammar of tree-sitter and prints
// what of it is no PowerShell, or is not in Windows PowerShell 5.1, which every Windows
// has: the commands and types below are (docs of Microsoft.PowerShell.Core, .Management
// and .Utility 5.1; .NET Framework), and its language has no && and no ||.
const parsePowerShell = `
import sys, tree_sitter, tree_sitter_powershell
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
commands = set("Get-ChildItem Get-Command Join-Path Remove-Item Set-Item Set-StrictMode Test-Path Write-Output".lower().split())
types = set("[environment] [hashtable] [int] [string] [string[]] [io.file] [io.directory] [io.path]".split())
def bad(node):
    text = node.text.decode().lower()
    if node.type == "function_name":
        commands.add(text)
    if (node.type == "ERROR" or node.is_missing or node.type in ("pipeline_chain_tail", "ternary_expression") or text in ("&&", "||", "??")
            or node.type == "command_name" and "-" in text and text not in commands or node.type == "type_literal" and text not in types):
        yield node
    for child in node.children:
        yield from bad(child)
wrong = 0
for name in sys.argv[1:]:
    tree = parser.parse(open(name, "rb").read())
    for node in bad(tree.root_node):
        wrong += 1
        print(name, node.start_point, node.text[:80])
sys.exit(wrong > 0)
`

// TestE2EPowerShell prints plans for Windows as PowerShell scripts and has a parser that
// is not ours read them. It proves that the parser finds what is wrong, too.
func TestE2EPowerShell(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it fetches a parser: make e2e")
	}
	t.Parallel() // it waits for the index
	dir, program := t.TempDir(), build(t)
	python := filepath.Join(dir, "v", "bin", "python")
	for _, argv := range [][]string{
		{"python3", "-m", "venv", filepath.Join(dir, "v")},
		{python, "-m", "pip", "install", "-q", "--only-binary", ":all:", "tree-sitter", "tree-sitter-powershell"},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "parse.py"), []byte(parsePowerShell), 0o600); err != nil {
		t.Fatal(err)
	}
	parse := func(names ...string) ([]byte, error) {
		return exec.Command(python, append([]string{filepath.Join(dir, "parse.py")}, names...)...).CombinedOutput()
	}
	var names []string
	for i, more := range [][]string{
		{"--gpu", "RTX 4090"},
		{"--gpu", "GTX 1080", "--driver", "566.36", "torch", "numpy>=2; python_version > '3'"},
		{"--gpu", "none", "--env", "it's ‘mine’ $(calc)"},
		{"--gpu", "RTX 4090", "--manager", "conda"},
		{"--gpu", "RTX 4090", "--manager", "pip"},
		{"--gpu", "RTX 4090", "--mirror", "default=http://127.0.0.1:1/simple"},
		{"--gpu", "RTX 4090", "--kernel", "demo"},
	} {
		argv := append([]string{"plan", "--os", "windows", "--python", "3.12", "--no-lock", "--ps1"}, more...)
		out, err := exec.Command(program, argv...).Output()
		if err != nil || !strings.HasPrefix(string(out), "# envfix plan") {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
		names = append(names, filepath.Join(dir, string(rune('a'+i))+".ps1"))
		if err := os.WriteFile(names[i], out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := parse(names...); err != nil {
		t.Errorf("no PowerShell: %v\n%s", err, out)
	}
	for _, text := range []string{"if ($From -le 1) {\n  Invoke-Step @{ 'a' = } $uv @('x',\n", "Get-Nope 1\n", "[Nope]::X()\n", "Test-Path a && Test-Path b\n"} {
		spoilt := filepath.Join(dir, "spoilt.ps1")
		if err := os.WriteFile(spoilt, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := parse(spoilt); err == nil {
			t.Errorf("the parser takes what is no script for 5.1: %q %s", text, out)
		}
	}
}
