package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/describe"
	"envfix/internal/pep508"
	"envfix/internal/planning"
	"envfix/internal/project"
	"envfix/internal/system"
	"envfix/matrix"
	"envfix/resolver"
)

// asOf leaves out of a question what torch released after a day; which GPU, driver and
// system run what is known as of now. "" is no day.
func asOf(q *planning.Question, day string) error {
	if day == "" {
		return nil
	}
	_, err := time.Parse(time.DateOnly, day)
	q.Matrix = q.Matrix.Until(day)
	if err != nil || slices.ContainsFunc(q.Matrix.Releases, func(r *matrix.Release) bool { return r.Date > day }) {
		return describe.BadValue("as-of", day, "write a day such as `--as-of 2024-05-31`, of which a torch is known here")
	}
	return nil
}

// unproven says of a project that names no version of torch that nobody tried it with
// this one, and which torch its authors may have had.
func (f planFlags) unproven(ctx context.Context, q planning.Question, c *resolver.Choice) []string {
	r := q.Request.Requirements
	if f.wish.Dir == "" || f.wish.Lock != nil || project.DemandsItself(f.wish.Manager) || c == nil || c.Torch == "" ||
		slices.ContainsFunc(r, func(q pep508.Requirement) bool { return q.Name == "torch" && !q.Spec.IsZero() }) {
		return nil
	}
	said := fmt.Sprintf("nothing is proven for this project: it names no version of torch, and %s is what fits here", c.Torch)
	day := f.lastCommit(ctx)
	if day != "" && q.Target.AsOf == "" && slices.ContainsFunc(q.Matrix.Releases, func(r *matrix.Release) bool { return r.Date > day }) {
		said += "; its last commit is of " + day + ": `--as-of " + day + "` takes torch and the packages of then"
	}
	return []string{said}
}

// lastCommit is the day of the newest commit of the project that is followed; "" it is in
// no repository of its own.
func (f planFlags) lastCommit(ctx context.Context) string {
	if _, err := os.Lstat(filepath.Join(f.wish.Dir, ".git")); f.wish.Dir == "" || err != nil {
		return ""
	}
	cmd, err := system.Git(ctx, f.wish.Dir, "log", "-1", "--format=%cs", "HEAD")
	if err != nil {
		return ""
	}
	out, _ := cmd.Output() // an empty repository has none
	return strings.TrimSpace(string(out))
}
