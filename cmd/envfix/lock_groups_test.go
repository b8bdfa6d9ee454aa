package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"

	"github.com/google/go-cmp/cmp"
)

const groupsProject = `[project]
name = "ours"
version = "1"
dependencies = ["torch", "six"]
[project.optional-dependencies]
plot = ["idna"]
[dependency-groups]
web = ["rich", "six"]
dev = [{ include-group = "web" }, "idna>=3"]
[tool.envfix]
groups = ["web", "plot", "dev"]
[tool.envfix.targets]
`

// Groups and extras are locked with the rest and installed where they are chosen, by
// envfix as by uv, which reads the same words of PEP 751.
func TestLockGroups(t *testing.T) {
	minor := pythonMinor(t)
	tag := "cp" + strings.ReplaceAll(minor, ".", "")
	torch := testindex.Torch("2.10.0", "12.8", archFlags(t, "2.10.0", "cu128")...)
	torch.Tag = tag + "-" + tag + "-manylinux_2_28_x86_64"
	x := testindex.Serve(t, torch, testindex.Wheel{Name: "six", Version: "1.17.0"}, testindex.Wheel{Name: "idna", Version: "3.1"},
		testindex.Wheel{Name: "rich", Version: "13.0", Requires: []string{"pygments", "six"}}, testindex.Wheel{Name: "pygments", Version: "2.0"})
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	emptyCache(t)
	writeText(t, filepath.Join(dir, "pyproject.toml"), groupsProject+"v100 = \"gpu=7.0 driver=580 index=default python="+minor+"\"\n")
	mirror := []string{"--mirror", "default=" + x.URL}
	wantExit(t, lockIn(t, dir, append([]string{"lock"}, mirror...)...), fail.OK)
	wantExit(t, lockIn(t, dir, "lock", "--check", "--offline"), fail.OK)
	text := fileText(t, "pylock.v100.toml")
	for _, line := range []string{"extras = ['plot']", "dependency-groups = ['dev', 'web']"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("pylock.v100.toml has no line %s:\n%s", line, text)
		}
	}

	machine := append([]string{"--yes", "--gpu", "7.0", "--driver", "580.95.05", "--arch", "x86_64", "--os", "linux"}, mirror...)
	have := func(python string) string {
		t.Helper()
		out, err := exec.Command(testindex.UV(t), "pip", "freeze", "--python", python).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(string(out)), " ")
	}
	const always = "six==1.17.0 torch==2.10.0"
	tests := []struct {
		groups []string
		want   string
	}{
		{nil, always},
		{[]string{"web"}, "pygments==2.0 rich==13.0 " + always},
		{[]string{"plot"}, "idna==3.1 " + always},
		{[]string{"dev"}, "idna==3.1 pygments==2.0 rich==13.0 " + always},
	}
	for _, tt := range tests {
		var chosen []string
		for _, g := range tt.groups {
			chosen = append(chosen, "--group", g)
		}
		wantExit(t, lockIn(t, dir, append(append([]string{"lock", "sync"}, machine...), chosen...)...), fail.OK)
		if d := cmp.Diff(tt.want, have(".venv/bin/python")); d != "" {
			t.Errorf("--group %v (-want +got):\n%s", tt.groups, d)
		}
		wantExit(t, lockIn(t, dir, append([]string{"lock", "--check", "--installed", "--profile", "v100"}, chosen...)...), fail.OK)
	}
	code, said := lockSays(t, dir, "lock", "--check", "--installed", "--profile", "v100")
	if code != fail.Pending || !strings.Contains(said, "rich 13.0 is installed, of a group that is not chosen") {
		t.Errorf("without the group that was chosen: exit %d\n%s", code, said)
	}

	env := venvOf(t, minor)
	sync := exec.Command(testindex.UV(t), "pip", "sync", "--python", env+"/bin/python", "--preview-features", "pylock", "--group", "web", "--default-index", x.URL, "pylock.v100.toml")
	if out, err := sync.CombinedOutput(); err != nil {
		t.Errorf("uv pip sync --group web: %v\n%s", err, out)
	} else if d := cmp.Diff("pygments==2.0 rich==13.0 "+always, have(env+"/bin/python")); d != "" {
		t.Errorf("uv pip sync --group web (-want +got):\n%s", d)
	}
	for _, args := range [][]string{append(append([]string{"apply"}, machine...), "--group", "nosuch"), append(append([]string{"plan", "--no-lock"}, machine[1:]...), "--group", "web")} {
		wantExit(t, lockIn(t, dir, args...), fail.Usage)
	}
	writeText(t, filepath.Join(dir, "pyproject.toml"), strings.Replace(fileText(t, "pyproject.toml"), `"rich", "six"`, `"rich"`, 1))
	code, said = lockSays(t, dir, "lock", "--check", "--offline")
	if code != fail.Pending || !strings.Contains(said, "group web") {
		t.Errorf("a group that asks for something else: exit %d\n%s", code, said)
	}
}
