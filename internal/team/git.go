package team

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/system"
)

// Lines that a repository with a lock needs: Git for Windows makes CRLF of LF by
// default, which other readers of the files may not expect, and what apply makes
// belongs to one machine. A pattern without a slash behind it is also a link's.
const (
	attributes = `envfix.lock text eol=lf\npylock.*.toml text eol=lf\n`
	ignored    = `/.venv\n`
)

// gitNotes proposes what the repository that the lock lies in does not say yet, as
// commands for its folder. Where there is no Git or no repository it says nothing.
func (t *Team) gitNotes(ctx context.Context) []string {
	git := func(args ...string) (string, error) {
		cmd, err := system.Git(ctx, t.Dir, args...)
		if err != nil {
			return "", err
		}
		out, err := cmd.Output()
		return string(out), err
	}
	if _, err := git("rev-parse", "--is-inside-work-tree"); err != nil {
		return nil
	}
	var out []string
	if said, err := git("check-attr", "eol", "--", lock.File); err == nil && strings.Contains(said, "unspecified") {
		out = append(out, "for Git, so that a clone on Windows has the same bytes: `printf '"+attributes+"' >> .gitattributes`")
	}
	_, err := git("check-ignore", "-q", "--", ".venv")
	if not, ok := errors.AsType[*exec.ExitError](err); ok && not.ExitCode() == 1 {
		out = append(out, "for Git, so that nobody commits what `envfix apply` makes: `printf '"+ignored+"' >> .gitignore`")
	}
	return out
}

// fromWindows reports whether a file has the line ends that Git for Windows makes.
func fromWindows(file string) bool {
	b, err := ReadFile(file)
	return err == nil && bytes.Contains(b, []byte("\r\n"))
}
