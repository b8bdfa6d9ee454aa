package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/owner"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/ui"
	release "envfix/internal/update" // "update" is the flag of the golden tests
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixUpdateCommand() *cli.Command {
	return declared("matrix update", cmdline.Taking(0, func(c *cli.Context) error {
		return matrixUpdate(c.Context, updateFlags{from: c.String("from"), check: c.Bool("check"), json: c.Bool("json")}, c.App.Writer)
	}))
}

// updateFlags are those of `envfix matrix update`.
type updateFlags struct {
	from        string // an address or a directory; "" the one that is known
	check, json bool
}

func matrixUpdate(ctx context.Context, f updateFlags, out io.Writer) error {
	store := matrixStore()
	from, err := channel(f.from, store, owner.DataURL)
	if err != nil {
		return err
	}
	keys, err := trustedKeys()
	if err != nil {
		return err
	}
	known, err := store.Known(version.MustDotted(matrix.EmbeddedHead().Version), keys, today())
	if err != nil {
		return fail.New(fail.Failed, ui.Clean(err.Error()))
	}
	src, shown, err := releaseSource(from)
	if err != nil {
		return err
	}
	r, err := release.Verify(ctx, src, known)
	if err != nil {
		return updateFailure(shown, errors.Join(err, store.Keep(r)))
	}
	if err := f.keep(store, r, shown); err != nil {
		return err
	}
	return f.say(r, known, shown, out)
}

// channel is where newer data is looked for: what was asked for, where the last
// release came from, or what the program was built with.
func channel(asked string, store release.Store, built string) (string, error) {
	last, _ := store.From()
	if from := cmp.Or(asked, last, built); from != "" {
		return from, nil
	}
	return "", &fail.Error{
		Code: fail.Usage,
		Text: "no channel of newer data is set, so there is nowhere to look",
		Details: []string{
			"--from: not given",
			"the release that was taken last: none (" + ui.Clean(store.Dir) + ")",
			"the address that this envfix was built with: none",
		},
		Hints: []string{"`envfix matrix update --from URL` (or a folder) names one; it is remembered"},
	}
}

// keep installs what is newer. A look is kept as well: a key that was given up is not
// to be trusted again.
func (f updateFlags) keep(store release.Store, r *release.Release, from string) error {
	if r.News && !f.check {
		if err := store.Install(r, from, today()); err != nil {
			return fail.New(fail.Failed, "the release is good, but it could not be kept: "+ui.Clean(err.Error()))
		}
	} else {
		keep := store.Keep
		if !f.check {
			keep = func(r *release.Release) error { return store.Checked(r, from, today()) }
		}
		if err := keep(r); err != nil {
			return fail.New(fail.Failed, ui.Clean(err.Error()))
		}
	}
	return nil
}

// say tells what was done.
func (f updateFlags) say(r *release.Release, known release.Known, from string, out io.Writer) error {
	done := "up to date"
	switch {
	case r.News && f.check:
		done = "newer"
	case r.News:
		done = "updated"
	}
	told := matrixUpdateAnswer{Format: 1, Result: done, Version: r.Manifest.Version, Was: known.Highest, Created: r.Manifest.Created,
		Expires: r.Manifest.Expires, Signers: r.Signers, SHA256: r.SHA256, From: from}
	text := fmt.Sprintf("%s: matrix %s of %s, signed by %s", done, r.Manifest.Version, r.Manifest.Created, strings.Join(r.Signers, ", "))
	text += say.If(r.News, fmt.Sprintf("; so far %s", known.Highest)) + say.If(f.check, "\nlooked at: "+ui.Clean(from))
	return answer(out, f.json, told, text+"\n", fail.CodeIf(r.News && f.check, fail.Pending))
}

// updateFailure gives the refusal of a release its exit code and its way out.
func updateFailure(from string, err error) error {
	f := &fail.Error{Code: fail.Failed, Text: "the release at " + ui.Clean(from) + " was not taken: " + ui.Clean(err.Error()), Err: err}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, release.ErrNotFound):
		f.Hints = []string{"the address of a release is that of the directory with manifest.txt in it"}
	case errors.Is(err, release.ErrSignature):
		f.Code = fail.Integrity
		f.Hints = []string{"keys of your own go into ~/.config/envfix/matrix-keys.txt, one minisign public key a line"}
	case errors.Is(err, release.ErrExpired), errors.Is(err, release.ErrRollback), errors.Is(err, release.ErrHash), errors.Is(err, release.ErrForm):
		f.Code = fail.Integrity
		f.Hints = []string{"nothing was changed; the data that is here goes on working"}
	}
	return f
}

// releaseSource reads a release at an address or in a directory.
func releaseSource(from string) (release.Source, string, error) {
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		client, err := index.New(from, index.Options{})
		if err != nil {
			return nil, "", fail.Wrong(err.Error())
		}
		return func(ctx context.Context, name string, limit int64) ([]byte, error) {
			b, err := client.File(ctx, name, limit)
			if errors.Is(err, index.ErrNotFound) {
				return nil, release.ErrNotFound
			}
			return b, err
		}, client.Address(), nil
	}
	dir, err := filepath.Abs(from)
	if err != nil {
		return nil, "", err
	}
	src, err := release.Dir(dir)
	if err != nil {
		return nil, "", fail.Wrong(ui.Clean(err.Error()))
	}
	return src, dir, nil
}

// matrixStore is where a newer matrix lives.
func matrixStore() release.Store {
	return release.Store{Dir: filepath.Join(system.StateDir(), "matrix")}
}

// trustedKeys are the lists of keys that may sign: the one compiled in, and the
// user's own.
func trustedKeys() ([]release.KeyList, error) {
	pinned, err := release.ParseKeys(release.Pinned)
	if err != nil {
		return nil, err
	}
	lists := []release.KeyList{pinned}
	config, err := os.UserConfigDir()
	if err != nil {
		return lists, nil
	}
	file := filepath.Join(config, "envfix", "matrix-keys.txt")
	text, err := system.ReadOwn(file, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return lists, nil
	}
	if err != nil {
		return nil, fail.Wrong(ui.Clean(err.Error()))
	}
	own, err := release.ParseKeys(string(text))
	if err != nil {
		return nil, fail.Wrong(ui.Clean(file) + ": " + ui.Clean(err.Error()))
	}
	return append(lists, own), nil
}

// installedMatrix is the matrix of the last update where it is newer than the
// built-in one, or nil. One that is damaged or no longer trusted counts as none;
// the error says why.
func installedMatrix(builtIn *matrix.Matrix) (*matrix.Matrix, error) {
	store := matrixStore()
	if _, err := os.Stat(store.Dir); err != nil {
		return nil, nil
	}
	keys, err := trustedKeys()
	if err != nil {
		return nil, err
	}
	r, err := store.Installed(keys)
	if err != nil || r == nil || r.Manifest.Version.Compare(version.MustDotted(builtIn.Version)) <= 0 {
		return nil, err
	}
	return r.Matrix, nil
}

// oldAfter is the age from which on every plan says how old the data is: torch
// is released every eight weeks.
const oldAfter = 90

// matrixAge says how old the data is where that matters, else "".
func matrixAge(m *matrix.Matrix, today string) string {
	made, err := time.Parse(time.DateOnly, m.Date)
	if err != nil {
		return ""
	}
	now, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return ""
	}
	days := int(now.Sub(made).Hours() / 24)
	if days <= oldAfter {
		return ""
	}
	return fmt.Sprintf(
		"the compatibility data %s is %d days old: newer releases of torch are unknown to it; `envfix matrix update` takes newer data",
		m.Version,
		days,
	)
}

// A matrixUpdateAnswer is the JSON of `envfix matrix update`.
type matrixUpdateAnswer struct {
	Format  int            `json:"format"`
	Result  string         `json:"result"` // updated, newer (--check), or what the data was found to be
	Version version.Dotted `json:"version"`
	Was     version.Dotted `json:"was"`
	Created string         `json:"created"`
	Expires string         `json:"expires"`
	Signers []string       `json:"signed_by"`
	SHA256  string         `json:"sha256"`
	From    string         `json:"from"`
}
