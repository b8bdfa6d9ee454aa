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
)

// A version is the program's own, as each kind of package spells it.
type version struct {
	release string // 0.2.0
	dev     int    // commits so far, where this commit is no tagged release; 0 where it is
}

// python is PEP 440's spelling: 0.2.0, 0.2.0.dev1043.
func (v version) python() string {
	if v.dev == 0 {
		return v.release
	}
	return fmt.Sprintf("%s.dev%d", v.release, v.dev)
}

// linux is dpkg's and rpm's: a tilde sorts before the release itself.
func (v version) linux() string {
	if v.dev == 0 {
		return v.release
	}
	return fmt.Sprintf("%s~dev%d", v.release, v.dev)
}

// newRelease reads from git what the release is of.
func newRelease(out string, dirty bool) (*Release, error) {
	changed, err := output("git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" && !dirty {
		return nil, fmt.Errorf("a release is made of a commit, and there are changes beside it:\n%s\n(-dirty for a trial)", changed)
	}
	r := &Release{}
	if r.Commit, err = output("git", "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	if r.Version, err = describe(); err != nil {
		return nil, err
	}
	stamp, err := output("git", "show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, err
	}
	// A zip archive keeps every second second.
	r.Time = time.Unix(seconds&^1, 0).UTC()
	if r.Out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	r.Scratch = filepath.Join(r.Out, ".scratch")
	return r, os.MkdirAll(r.Scratch, 0o755)
}

var tagged = regexp.MustCompile(`^v(\d+\.\d+\.\d+)$`)

// describe is the version of the commit: its tag vX.Y.Z, or else the version that
// the source names, as a development version by the number of commits.
func describe() (version, error) {
	if tag, err := output("git", "describe", "--tags", "--exact-match"); err == nil {
		if m := tagged.FindStringSubmatch(tag); m != nil {
			return version{release: m[1]}, nil
		}
	}
	source, err := os.ReadFile("cmd/envfix/version.go")
	if err != nil {
		return version{}, err
	}
	m := regexp.MustCompile(`buildVersion = "(\d+\.\d+\.\d+)"`).FindSubmatch(source)
	if m == nil {
		return version{}, errors.New("cmd/envfix/version.go names no version")
	}
	count, err := output("git", "rev-list", "--count", "HEAD")
	if err != nil {
		return version{}, err
	}
	n, err := strconv.Atoi(count)
	return version{string(m[1]), n}, err
}

// output runs a program and returns what it prints, without the last newline.
func output(argv ...string) (string, error) {
	b, err := (&command{argv: argv}).output()
	return strings.TrimRight(string(b), "\n"), err
}

// A command is a program that is started for the release.
type command struct {
	argv []string
	env  []string // beside this process's own
	dir  string
}

func (c *command) output() ([]byte, error) {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = append(os.Environ(), c.env...), c.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(c.argv, " "), err, out, stderr.Bytes())
	}
	return out, nil
}
