package apply

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"envfix/internal/machine"
)

// What uv writes to in place when it puts an environment's frame back lies beside the
// packages, not in them: it is a file of its own, or the generation before changes too.
func TestCloneOfAFrame(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for name, linked := range map[string]bool{"_virtualenv.py": false, "_virtualenv.pth": false, "torch/version.py": true} {
		old, made := filepath.Join(from, "lib/site-packages", name), filepath.Join(to, "lib/site-packages", name)
		for _, dir := range []string{filepath.Dir(old), filepath.Dir(made)} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(old, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := cloneFile(old, made, from, to, true); err != nil {
			t.Fatal(err)
		}
		one, err := os.Stat(old)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := os.Stat(made); err != nil || os.SameFile(one, other) != linked {
			t.Errorf("%s: one file %v, error %v", name, !linked, err)
		}
	}
}

// Only a program of an environment starts the Python that is put back; one of the system's stays.
func TestCloneKeepsTheSystemsPython(t *testing.T) {
	dir := t.TempDir()
	from, to, other, system := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "env"), filepath.Join(dir, "usr")
	for _, d := range []string{from, to, other, system} {
		if err := os.MkdirAll(filepath.Join(d, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "pyvenv.cfg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	long := "#!/bin/sh\n'''exec' %s \"$0\" \"$@\"\n' '''\n" // as pip and uv write it
	for place, want := range map[string]string{dir + "/moved": to, other: to, from: to, system: system, dir + "/my moved": to} {
		for _, form := range []string{"#!%s\n", strings.Replace(long, "%s", `"%s"`, 1), strings.Replace(long, "%s", "'%s'", 1), long} {
			if strings.Contains(place, " ") && !strings.Contains(form, "'%s'") && !strings.Contains(form, `"%s"`) {
				continue
			}
			old, made := filepath.Join(from, "bin", "pip"), filepath.Join(to, "bin", "pip")
			if err := os.WriteFile(old, []byte(fmt.Sprintf(form, place+"/bin/python3.12")+"rest\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := cloneFile(old, made, from, to, true); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(made)
			if python, rest := machine.StartedBy(string(b)); err != nil || !strings.HasPrefix(python, want+"/bin/python") || rest != "rest\n" {
				t.Errorf("%s: %q, error %v; wanted %s", place, b, err, want)
			}
		}
	}
}

// A program of a place that the kernel does not take in a first line is started by a shell.
func TestCloneToALongPlace(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "it's a long name "+strings.Repeat("x", 120))
	for _, d := range []string{from, to} {
		if err := os.MkdirAll(filepath.Join(d, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old, made := filepath.Join(from, "bin", "says"), filepath.Join(to, "bin", "says")
	if err := errors.Join(os.WriteFile(old, []byte("#!"+from+"/bin/python3\necho started $1; exit\n"), 0o755),
		os.WriteFile(filepath.Join(to, "bin", "python3"), []byte("#!/bin/sh\necho \"by python: $1 $2\"\n"), 0o755),
		cloneFile(old, made, from, to, false)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(made, "word").CombinedOutput(); err != nil || string(out) != "by python: "+made+" word\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// What comes again stays behind, as often as it is listed and with all that its RECORDs name.
func TestCloneLeavesBehind(t *testing.T) {
	from := t.TempDir()
	site := filepath.Join(from, "lib", "python3.12", "site-packages")
	for name, content := range map[string]string{
		"my_pack-1.0.dist-info/RECORD": "my_pack/__init__.py,sha256=x,3\n../../../bin/mine,,\n../../../../../outside,,\nhalf,sha2",
		"my_pack-2.0.dist-info/RECORD": "my_pack/two.py,,\n", "~y_pack/x.py": "", "other-1.0.dist-info/RECORD": "other.py,,\n",
	} {
		file := filepath.Join(site, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	got := staysBehind(from, []string{"my-pack", "~y_pack"})
	for _, want := range []string{site + "/my_pack-1.0.dist-info", site + "/my_pack-2.0.dist-info", site + "/~y_pack",
		site + "/my_pack/__init__.py", site + "/my_pack/two.py", from + "/bin/mine"} {
		if !got[want] {
			t.Errorf("%s is taken along", want)
		}
	}
	if got[site+"/other-1.0.dist-info"] || got[site+"/other.py"] || len(staysBehind(from, nil)) > 0 {
		t.Errorf("%v", got)
	}
}
