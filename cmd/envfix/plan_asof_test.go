package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/testindex"
)

// A project that names no torch is told so, with the day of its last commit; as of a day,
// torch and packages are those of then.
func TestAsOf(t *testing.T) {
	t.Setenv("ENVFIX_QUICK", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	x := teamIndex(t)
	const then, now = "2023-06-01T00:00:00Z", "2026-01-02T00:00:00Z"
	x.Add(
		testindex.Wheel{Name: "torch", Version: "2.0.1", Uploaded: "2023-05-08T00:00:00Z"}, testindex.Wheel{Name: "torchvision", Version: "0.15.2", Uploaded: "2023-05-08T00:00:00Z"},
		testindex.Wheel{Name: "lib", Version: "1.0", Uploaded: then}, testindex.Wheel{Name: "lib", Version: "2.0", Uploaded: now},
		testindex.Wheel{Name: "numpy", Version: "1.24.3", Uploaded: then}, testindex.Wheel{Name: "transformers", Version: "4.30.0", Uploaded: then},
		testindex.Wheel{Name: "setuptools", Version: "67.0.0", Uploaded: then},
	)
	dir := t.TempDir()
	writeText(t, dir+"/old/requirements.txt", "lib\n")
	c := exec.Command("sh", "-ec", "git init -q; git add .; git -c user.name=x -c user.email=x@x commit -qm one")
	c.Dir, c.Env = dir+"/old", append(os.Environ(), "GIT_COMMITTER_DATE=2023-07-31T12:00:00Z")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plan := func(args ...string) (int, string) {
		return lockSays(t, dir, append([]string{"plan", "--gpu", "A100", "--driver", "580.95.05", "--os", "linux", "--arch", "x86_64", "--libc", "glibc-2.35", "--only-index", "default",
			"--mirror", "default=" + x.URL, "--json"}, args...)...)
	}
	if code, said := plan("./old", "--python", "3.12"); code != fail.OK || !strings.Contains(said, "nothing is proven for this project") || !strings.Contains(said, "its last commit is of 2023-07-31: `--as-of 2023-07-31`") {
		t.Errorf("today: exit %d: %s", code, said)
	}
	writeText(t, dir+"/old/requirements.txt", "lib\ntorch==2.0.1\n")
	if _, said := plan("./old"); strings.Contains(said, "nothing is proven") || !strings.Contains(said, "names a version of is as of today; its last commit is of 2023-07-31: `--as-of 2023-07-31`") {
		t.Errorf("with torch named: %s", said)
	}
	writeText(t, dir+"/old/requirements.txt", "lib\n")
	code, said := plan("./old", "--as-of", "2023-07-31")
	for _, want := range []string{`"torch": "2.0.1"`, `"--exclude-newer"`, "lib==1.0"} {
		if code != fail.OK || !strings.Contains(said, want) {
			t.Errorf("as of then: exit %d, no %s: %s", code, want, said)
		}
	}
	for _, bad := range [][]string{{"--as-of", "July"}, {"--as-of", "2019-01-01"}, {"--as-of", "2023-07-31", "--quick"}} {
		if code, said := plan(append(bad, "./old")...); code != fail.Usage {
			t.Errorf("%v: exit %d: %s", bad, code, said)
		}
	}
}
