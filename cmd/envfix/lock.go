package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/system"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func lockCommand() *cli.Command {
	return &cli.Command{
		Name:      "lock",
		Usage:     "pin the same packages for every kind of machine of a team",
		ArgsUsage: "[REQUIREMENT…]",
		Description: `Writes envfix.lock and one standard pylock.NAME.toml per kind of machine. It needs
no GPU and none of those machines: they are described. ` + "`envfix apply`" + ` then installs
exactly those bytes on the machines that match.

A description is gpu= driver= os= arch= libc= python= cuda= build= index=, as the
flags of ` + "`envfix plan`" + `; gpu takes a list. They may stand in envfix.toml as well:

  requirements = ["torch", "numpy"]
  [targets]
  v100 = "gpu=V100 driver=580 os=linux python=3.12"
  cpu  = "gpu=none"

EXAMPLES
  envfix lock torch --target v100="gpu=V100 driver=580" --target cpu="gpu=none"
  envfix lock --check
  envfix lock --upgrade-matrix
  envfix lock show
  envfix lock diff old.lock envfix.lock
  envfix lock export --format requirements --profile v100

EXIT STATUS
  0  written, or current
  2  usage, or a file that cannot be read
  3  no combination fits a target
  4  the lock is stale (with --check)`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "requirements", Aliases: []string{"r"}, Usage: "read requirements from `FILE`, or from a pyproject.toml"},
			&cli.StringSliceFlag{Name: "target", Usage: "a kind of machine, as `NAME=DESCRIPTION`: v100=\"gpu=V100 driver=580\"; repeat it for several"},
			&cli.StringSliceFlag{Name: "facts", Usage: "a kind of machine from `FILE` (envfix facts --json); repeat it"},
			&cli.BoolFlag{Name: "same-torch", Usage: "the same torch for every profile"},
			&cli.BoolFlag{Name: "check", Usage: "say whether the lock is current; no network"},
			&cli.BoolFlag{Name: "upgrade-matrix", Usage: "choose again with the data of this envfix"},
			&cli.BoolFlag{Name: "upgrade", Usage: "take the newest versions; with REQUIREMENTs only of those packages"},
			&cli.StringFlag{Name: "profile", Usage: "only this `NAME`"},
			&cli.BoolFlag{Name: "offline", Usage: "use no network: only what uv has cached"},
			&cli.StringSliceFlag{Name: "mirror", Usage: "`FROM=TO`: fetch TO wherever FROM is named; default=URL is the default index"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action:      lockAction,
		Subcommands: []*cli.Command{lockShowCommand(), lockDiffCommand(), lockExportCommand(), lockBundleCommand()},
	}
}

func lockAction(c *cli.Context) error {
	old, err := readLock(".")
	if err != nil && !errors.Is(err, os.ErrNotExist) && !c.IsSet("target") {
		return err
	}
	m, err := matrixFor()
	if err != nil {
		return err
	}
	if c.Bool("check") {
		return lockCheck(c, m, old)
	}
	in, err := gatherLockInput(c, ".", old)
	if err != nil {
		return err
	}
	hold := held(c, m, old)
	drafts, err := lockDrafts(c, m, in, hold)
	if err != nil {
		return err
	}
	u, err := lockUV(c)
	if err != nil {
		return err
	}
	drafts, kept, err := onlyProfile(c.String("profile"), drafts, old, in)
	if err != nil {
		return err
	}
	files, err := compileAll(c.Context, m, u, drafts)
	if err != nil {
		return err
	}
	l := &lock.Lock{Schema: lock.Schema, RequiresEnvfix: ">=" + releaseOf(buildVersion), Matrix: lock.Matrix{Version: m.Version, SHA256: m.SHA256}, Input: in}
	if hold != nil {
		l.Matrix = old.Matrix
	}
	for _, d := range drafts {
		l.Profiles = append(l.Profiles, d.profile)
	}
	l.Profiles = append(l.Profiles, kept...)
	if err := writeLock(".", l, files); err != nil {
		return err
	}
	_, err = io.WriteString(c.App.Writer, lockText(l))
	return err
}

// onlyProfile leaves the named profile's draft and returns the other profiles as
// they are in the present lock, which must have been made from the same input.
func onlyProfile(name string, drafts []lockDraft, old *lock.Lock, in lock.Input) ([]lockDraft, []lock.Profile, error) {
	if name == "" {
		return drafts, nil, nil
	}
	if old == nil {
		return nil, nil, &failure{code: exitUsage, text: "`--profile` makes one profile of a lock anew, and there is no " + lock.File + " here"}
	}
	if _, err := old.Profile(name); err != nil {
		return nil, nil, &failure{code: exitUsage, text: err.Error(), err: err}
	}
	if changes := inputChanges(old.Input, in); len(changes) > 0 {
		return nil, nil, &failure{code: exitUsage, text: "the other profiles would no longer fit what is asked for", details: changes,
			hints: []string{"drop `--profile`: then all are made anew"}}
	}
	drafts = slices.DeleteFunc(drafts, func(d lockDraft) bool { return d.profile.Name != name })
	kept := slices.DeleteFunc(slices.Clone(old.Profiles), func(p lock.Profile) bool { return p.Name == name })
	return drafts, kept, nil
}

// held returns the lock whose choices stay: with another matrix than the lock was
// made from, torch changes only with --upgrade-matrix.
func held(c *cli.Context, m *matrix.Matrix, old *lock.Lock) *lock.Lock {
	if old == nil || c.Bool("upgrade-matrix") || old.Matrix.SHA256 == m.SHA256 {
		return nil
	}
	return old
}

// lockDrafts chooses a build for each target of the input. Profiles of hold keep
// their torch and build.
func lockDrafts(c *cli.Context, m *matrix.Matrix, in lock.Input, hold *lock.Lock) ([]lockDraft, error) {
	var targets []lockTarget
	for _, t := range in.Targets {
		parsed, err := parseTarget(c, m, t.Name, t.Facts)
		if err != nil {
			return nil, err
		}
		if hold != nil {
			if p, err := hold.Profile(t.Name); err == nil {
				public, _ := version.SplitLocal(p.Torch)
				parsed.pin, parsed.request.Build = "=="+public, p.Build
			}
		}
		targets = append(targets, parsed)
	}
	wish, err := inputRequirements(in)
	if err != nil {
		return nil, err
	}
	drafts, err := resolveTargets(m, targets, wish, in.SameTorch)
	if err != nil {
		return nil, err
	}
	return drafts, distinct(drafts)
}

// lockUV is the uv that resolves, with what the flags and the environment say of
// indexes.
func lockUV(c *cli.Context) (uvTool, error) {
	u, err := mirrorsOf(c)
	if err != nil {
		return u, err
	}
	u.offline, u.upgrade = c.Bool("offline"), c.Bool("upgrade")
	if u.upgrade {
		u.only = c.Args().Slice()
	}
	for _, name := range []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"} {
		if u.index == "" {
			u.index = os.Getenv(name)
		}
	}
	u.path, err = findUV()
	return u, err
}

// mirrorsOf reads --mirror.
func mirrorsOf(c *cli.Context) (uvTool, error) {
	var u uvTool
	for _, pair := range c.StringSlice("mirror") {
		if err := checkMirror(pair); err != nil {
			return u, err
		}
		from, to, _ := strings.Cut(pair, "=")
		if from == "default" {
			u.index = to
		} else {
			u.mirrors = append(u.mirrors, [2]string{from, to})
		}
	}
	return u, nil
}

// releaseOf is the least version that can read what this build writes: the part
// of a described build before the first dash.
func releaseOf(build string) string {
	v, _, _ := strings.Cut(strings.TrimPrefix(build, "v"), "-")
	if _, err := version.ParseDotted(v); err != nil {
		return "0.1.0"
	}
	return v
}

// readLock reads and checks envfix.lock in dir. Where there is none, the error is
// os.ErrNotExist.
func readLock(dir string) (*lock.Lock, error) {
	b, err := readLockFile(filepath.Join(dir, lock.File))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return nil, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
	}
	l, err := lock.Decode(b)
	if err != nil {
		return nil, &failure{code: exitIntegrity, text: ui.Clean(err.Error()), err: err}
	}
	return l, nil
}

// writeLock writes the pylock files first and envfix.lock last, each by a rename:
// whoever reads in between finds either lock whole, and a pylock that does not fit
// its digest is refused. Files of profiles that are gone are removed.
func writeLock(dir string, l *lock.Lock, files map[string][]byte) error {
	b, err := l.Encode()
	if err != nil {
		return err
	}
	for _, p := range l.Profiles {
		b, made := files[p.Name]
		if !made {
			continue // a profile that --profile left as it was
		}
		if err := writeTeamFile(filepath.Join(dir, p.Pylock.File), b); err != nil {
			return err
		}
	}
	if err := writeTeamFile(filepath.Join(dir, lock.File), b); err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(dir, "pylock.*.toml"))
	for _, path := range stale {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "pylock."), ".toml")
		if !slices.Contains(l.Names(), name) && writtenByUs(path) {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

func writtenByUs(path string) bool {
	b, err := readLockFile(path)
	if err != nil {
		return false
	}
	p, err := lock.DecodePylock(b)
	return err == nil && p.CreatedBy == "envfix"
}

// writeTeamFile replaces a file that is for the whole team: mode 0644, and an equal
// one is left alone.
func writeTeamFile(path string, b []byte) error {
	if old, err := system.ReadFile(path, int64(len(b))); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := replaceFile(path, b, 0o644); err != nil {
		return &failure{code: exitPreflight, text: ui.Clean(err.Error()), err: err}
	}
	return nil
}

func lockText(l *lock.Lock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s and %d pylock files (matrix %s)\n", lock.File, len(l.Profiles), l.Matrix.Version)
	for _, p := range l.Profiles {
		fmt.Fprintf(&b, "  %-12s torch %-16s Python %-5s %5.1f GB  %s\n", p.Name, p.Torch, p.Python, float64(p.Size.Download)/1e9, p.Match.Text())
	}
	return b.String()
}
