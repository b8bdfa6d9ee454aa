package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"envfix/internal/ci/must"
	"envfix/internal/say"
)

// A version is the program's own, as each kind of package spells it.
type version struct {
	release string // 0.2.0
	dev     int    // commits so far, where this commit is no tagged release; 0 where it is
}

// python is PEP 440's spelling: 0.2.0, 0.2.0.dev1043.
func (v version) python() string {
	return say.Either(v.dev == 0, v.release, fmt.Sprintf("%s.dev%d", v.release, v.dev))
}

// linux is dpkg's and rpm's: a tilde sorts before the release itself.
func (v version) linux() string {
	return say.Either(v.dev == 0, v.release, fmt.Sprintf("%s~dev%d", v.release, v.dev))
}

// newRelease reads from git what the release is of.
func newRelease(out string, dirty bool) *Release {
	changed := output("git", "status", "--porcelain")
	if changed != "" && !dirty {
		must.Do(fmt.Errorf("a release is made of a commit, and there are changes beside it:\n%s\n(-dirty for a trial)", changed))
	}
	r := &Release{}
	r.Commit = output("git", "rev-parse", "HEAD")
	r.Version = describe()
	stamp := output("git", "show", "-s", "--format=%ct", "HEAD")
	seconds := must.Get(strconv.ParseInt(stamp, 10, 64))
	// A zip archive keeps every second second.
	r.Time = time.Unix(seconds&^1, 0).UTC()
	r.Out = must.Get(filepath.Abs(out))
	r.Scratch = filepath.Join(r.Out, ".scratch")
	must.Do(os.MkdirAll(r.Scratch, 0o755))
	return r
}

var tagged = regexp.MustCompile(`^v(\d+\.\d+\.\d+)$`)

// describe is the version of the commit: its tag vX.Y.Z, or else the version that
// the source names, as a development version by the number of commits.
func describe() version {
	tag, _ := (&command{argv: []string{"git", "describe", "--tags", "--exact-match"}}).output() // most commits have none
	if m := tagged.FindSubmatch(bytes.TrimSpace(tag)); m != nil {
		return version{release: string(m[1])}
	}
	source := must.Get(os.ReadFile("cmd/envfix/version.go"))
	m := regexp.MustCompile(`buildVersion = "(\d+\.\d+\.\d+)"`).FindSubmatch(source)
	if m == nil {
		must.Do(errors.New("cmd/envfix/version.go names no version"))
	}
	count := output("git", "rev-list", "--count", "HEAD")
	return version{string(m[1]), must.Get(strconv.Atoi(count))}
}

// output runs a program and returns what it prints, without the last newline.
func output(argv ...string) string {
	return strings.TrimRight(string(must.Get((&command{argv: argv}).output())), "\n")
}

// A command is a program that is started for the release.
type command struct {
	argv  []string
	env   []string // beside this process's own
	dir   string
	stdin []byte
}

func (c *command) output() ([]byte, error) {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = append(os.Environ(), c.env...), c.dir
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(c.stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(c.argv, " "), err, out, stderr.Bytes())
	}
	return out, nil
}
