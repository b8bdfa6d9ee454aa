// Package clone brings one commit of a repository here: its files and nothing that runs.
// No submodules, no filters, no hooks, no prompts, nobody's configuration of git.
package clone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/system"
	"envfix/internal/text"
)

// Limits of a repository: what the largest of those that people run have, and more.
const (
	maxBytes = 2 << 30
	maxFiles = 100_000
	maxTime  = 15 * time.Minute
)

// An Address says where a repository is and which commit of it is meant.
type Address struct {
	URL    string
	Commit string // a branch, a tag or a commit; HEAD where none was said
	Name   string // of the folder, as git would call it
}

var (
	plainName = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
	plainRef  = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
	whole     = lazy.Regexp(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

// Parse reads "github:owner/name@commit" or an https address of a repository; ok is false
// where the words are no such thing. Its error is of one that is not taken.
func Parse(words string) (a Address, ok bool, err error) {
	address := strings.TrimPrefix(words, "git+")
	name, hub := strings.CutPrefix(words, "github:")
	if hub {
		address = "https://github.com/" + name
	}
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return a, false, nil
	}
	no := func(why string) (Address, bool, error) {
		return a, true, &fail.Error{Code: fail.Usage, Text: text.Cut(text.Printable(text.Redact(words)), 100) + " is not taken as a repository: " + why,
			Hints: []string{"`github:OWNER/NAME`, `https://HOST/PATH`, each with `@COMMIT` where it is not the newest; `NAME @ URL` is a package"}}
	}
	u, err := url.Parse(address)
	if err != nil || u.RawQuery != "" || u.Fragment != "" {
		return no("its address cannot be read")
	}
	ref := "HEAD"
	if before, after, is := strings.Cut(u.Path, "@"); is {
		u.Path, ref = before, after
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	a = Address{URL: u.String(), Commit: ref, Name: strings.TrimSuffix(path.Base(u.Path), ".git")}
	switch ip := net.ParseIP(u.Hostname()); {
	case u.User != nil:
		return no("it holds a login, and git is given none")
	case u.Scheme == "http" && !(ip != nil && ip.IsLoopback()):
		return no("what comes by http can be changed on its way")
	case !plainName().MatchString(a.Name) || !plainRef().MatchString(ref) || strings.Contains(ref, ".."):
		return no("its name or commit is none")
	case strings.Count(u.Path, "/") < 2 && hub:
		return no("it names no owner and repository")
	}
	return a, true, nil
}

// To makes dir hold the files of the commit; one that is there stays, where it holds that
// very commit, else it is replaced. Its error is for people; dir is as it was then.
func (a Address) To(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil && whole().MatchString(a.Commit) {
		return nil
	}
	ctx, end := context.WithTimeout(ctx, maxTime)
	defer end()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), ".clone-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	defer system.Every(time.Second, func(time.Time) {
		if _, bytes := system.Sizes(aside); bytes > maxBytes {
			end()
		}
	})()
	for _, args := range [][]string{
		{"init", "-q", "--template="},
		{"remote", "add", "origin", a.URL},
		{"fetch", "-q", "--depth", "1", "--no-tags", "--no-recurse-submodules", "origin", a.Commit},
	} {
		if _, err := git(ctx, aside, args...); err != nil {
			return a.failed(err)
		}
	}
	links, err := checked(ctx, aside)
	if err == nil {
		_, err = git(ctx, aside, "checkout", "-q", "--detach", "FETCH_HEAD")
	}
	if err == nil {
		err = stay(aside, links)
	}
	if err != nil {
		return a.failed(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(aside, dir)
}

func (a Address) failed(err error) error {
	return &fail.Error{Code: fail.Failed, Text: "the repository " + text.Printable(a.URL) + " could not be brought here: " + text.Cut(text.Printable(err.Error()), 300), Err: err,
		Hints: []string{"clone it by hand, then `envfix plan ./" + a.Name + "`"}}
}

// git runs one command of git's without anybody's configuration.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd, err := system.Git(ctx, dir, append([]string{"-c", "protocol.https.allow=always", "-c", "protocol.http.allow=always"}, args...)...)
	if err != nil {
		return "", errors.New("there is no git here")
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		cmd.Env = append(cmd.Env, "GIT_SSL_CAINFO="+file)
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", errors.New("it is larger than 2 GiB, or takes longer than 15 minutes, or was interrupted")
	case errors.As(err, &exit):
		return "", errors.New("git: " + strings.Join(strings.Fields(string(exit.Stderr)), " "))
	}
	return string(out), err
}

// checked refuses a tree that is too large before it is written, and names its links.
func checked(ctx context.Context, dir string) (links []string, err error) {
	tree, err := git(ctx, dir, "ls-tree", "-r", "-l", "-z", "FETCH_HEAD")
	if err != nil {
		return nil, err
	}
	var bytes int64
	entries := strings.Split(strings.TrimSuffix(tree, "\x00"), "\x00")
	for _, entry := range entries {
		facts, name, _ := strings.Cut(entry, "\t")
		f := strings.Fields(facts) // mode, kind, object, bytes
		if len(f) != 4 {
			continue
		}
		n, _ := strconv.ParseInt(f[3], 10, 64) // "-" of a submodule
		bytes += n
		if f[0] == "120000" {
			links = append(links, name)
		}
	}
	if bytes > maxBytes || len(entries) > maxFiles {
		return nil, errors.New("it holds more than 2 GiB or 100,000 files")
	}
	return links, nil
}

// stay refuses links that lead out as the system follows them: through other links, too.
func stay(dir string, links []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, link := range links {
		var broken syscall.Errno // it leads nowhere
		if _, err := root.Stat(link); err != nil && !errors.As(err, &broken) {
			return fmt.Errorf("its link %s leads out of it", link)
		}
	}
	return nil
}
