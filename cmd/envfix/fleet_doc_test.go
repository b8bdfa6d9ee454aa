package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// docBlock is the first block of a language within a section of docs/fleet.md, whose
// title begins so.
func docBlock(t *testing.T, section, language string) string {
	t.Helper()
	_, text, ok := strings.Cut(fileText(t, filepath.Join(testdata(t, ""), "../../../docs/fleet.md")), "\n## "+section)
	text, _, _ = strings.Cut(text, "\n## ")
	_, block, found := strings.Cut(text, "```"+language+"\n")
	if !ok || !found {
		t.Fatalf("docs/fleet.md: no block of %s in %q", language, section)
	}
	block, _, _ = strings.Cut(block, "```")
	return block
}

// inShell runs a script of the documentation in dir, each line of which must end well,
// with the program first on PATH.
func inShell(t *testing.T, dir, script string, env ...string) string {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", `PATH="$0:$PATH"`+"\n"+script, filepath.Dir(build(t)))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestFleetDoc runs the sections of docs/fleet.md that need no other machine.
func TestFleetDoc(t *testing.T) {
	dir := t.TempDir()
	writeText(t, dir+"/nodes.csv", docBlock(t, "Which groups", "csv"))
	inShell(t, dir, docBlock(t, "Which groups", "sh"))
	writeText(t, dir+"/results/v1.json", `{"host":"v1","error":"UNREACHABLE"}`)
	out := inShell(t, dir, docBlock(t, "Who is right", "sh"), "HOME="+dir)
	if !strings.Contains(out, "2 failed") || !strings.Contains(fileText(t, dir+"/report.json"), "UNREACHABLE") {
		t.Error(out)
	}
}

// The collection says of itself what docs/fleet.md says of it.
func TestCollectionReadme(t *testing.T) {
	text := fileText(t, "../../deploy/ansible/README.md")
	for _, language := range []string{"yaml", "sh"} {
		if block := docBlock(t, "Ansible", language); !strings.Contains(text, "```"+language+"\n"+block+"```") {
			t.Errorf("deploy/ansible/README.md lacks docs/fleet.md's\n%s", block)
		}
	}
}

// TestFleetDocExports runs the exports of docs/fleet.md.
func TestFleetDocExports(t *testing.T) {
	dir := clusterLock(t)
	inShell(t, dir, docBlock(t, "Kubernetes", "sh"))
	for _, f := range clusterForms {
		if text := fileText(t, filepath.Join(dir, f.file)); len(text) == 0 {
			t.Errorf("%s is empty", f.file)
		}
	}
}
