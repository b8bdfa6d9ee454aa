package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func lockShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show the profiles of the lock",
		Description: "EXAMPLES\n  envfix lock show\n  envfix lock show --json",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action: func(c *cli.Context) error {
			l, err := presentLock(".")
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return writeJSON(c.App.Writer, struct {
					Format int        `json:"format"`
					Lock   *lock.Lock `json:"lock"`
				}{1, l})
			}
			_, err = io.WriteString(c.App.Writer, profilesText(l))
			return err
		},
	}
}

func profilesText(l *lock.Lock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: matrix %s, needs envfix %s\n", lock.File, ui.Clean(l.Matrix.Version), ui.Clean(l.RequiresEnvfix))
	fmt.Fprintf(&b, "asked for: %s\n", ui.Clean(strings.Join(l.Input.Requirements, ", ")))
	for _, p := range l.Profiles {
		fmt.Fprintf(&b, "\n%s\n  for     %s\n  torch   %s", p.Name, p.Match.Text(), ui.Clean(p.Torch))
		if p.CUDA != "" {
			fmt.Fprintf(&b, ", CUDA %s, cuDNN %s", ui.Clean(p.CUDA), ui.Clean(p.CuDNN))
		}
		fmt.Fprintf(&b, "\n  Python  %s\n  file    %s, %.1f GB to receive\n", ui.Clean(p.Python), p.Pylock.File, float64(p.Size.Download)/1e9)
	}
	return b.String()
}

func lockDiffCommand() *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "say in words what two locks differ in", ArgsUsage: "OLD NEW",
		Description: "Each argument is an envfix.lock or a folder with one; the pylock files beside it are\ncompared package by package.\n\nEXAMPLES\n  git show HEAD:envfix.lock > old.lock && envfix lock diff old.lock envfix.lock\n  envfix lock diff ../main .",
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return &failure{code: exitUsage, text: "`envfix lock diff` needs two locks", hints: []string{"`envfix lock diff OLD NEW`"}}
			}
			var locks [2]*lock.Lock
			var dirs [2]string
			for i, path := range c.Args().Slice() {
				l, dir, err := lockAt(path)
				if err != nil {
					return err
				}
				locks[i], dirs[i] = l, dir
			}
			lines := lock.Diff(locks[0], locks[1], func(l *lock.Lock, profile string) *lock.Packages {
				dir := dirs[slices.Index(locks[:], l)]
				b, err := readLockFile(filepath.Join(dir, lock.PylockName(profile)))
				p, perr := l.Profile(profile)
				if err != nil || perr != nil || lock.Sum(b) != p.Pylock.SHA256 {
					return nil
				}
				k, err := lock.DecodePylock(b)
				if err != nil {
					return nil
				}
				return k
			})
			if len(lines) == 0 {
				lines = []string{"no difference"}
			}
			_, err := fmt.Fprintln(c.App.Writer, strings.Join(lines, "\n"))
			return err
		},
	}
}

// lockAt reads a lock from a file of any name or from a folder.
func lockAt(path string) (*lock.Lock, string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		l, err := presentLock(path)
		return l, path, err
	}
	b, err := readLockFile(path)
	if err != nil {
		return nil, "", &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
	}
	l, err := lock.Decode(b)
	if err != nil {
		return nil, "", &failure{code: exitIntegrity, text: ui.Clean(err.Error()), err: err}
	}
	return l, filepath.Dir(path), nil
}

// presentLock is readLock where there has to be one.
func presentLock(dir string) (*lock.Lock, error) {
	l, err := readLock(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, noLock()
	}
	return l, err
}

func noLock() error {
	return &failure{code: exitUsage, text: "there is no " + lock.File + " here", hints: []string{"`envfix lock --help` says how to make one"}}
}

// exportFormats are the values of `lock export --format`.
var exportFormats = []string{"requirements", "conda", "uv", "dockerfile"}

func lockExportCommand() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a profile in another tool's form to standard output",
		Description: `requirements  hashed requirements, for pip and uv
conda         environment.yml: conda's Python, the locked wheels by pip
uv            the patch for pyproject.toml: indexes, sources, conflicting extras
dockerfile    an image that builds without a GPU

EXAMPLES
  envfix lock export --format requirements --profile v100 > v100.txt
  envfix lock export --format dockerfile --profile v100 > Dockerfile`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "requirements", Usage: "`FORM`: " + strings.Join(exportFormats, ", ")},
			&cli.StringFlag{Name: "profile", Usage: "the profile's `NAME`; not needed where there is one, or for uv"},
		},
		Action: func(c *cli.Context) error {
			l, err := presentLock(".")
			if err != nil {
				return err
			}
			text, err := exportText(l, c.String("format"), c.String("profile"))
			if err != nil {
				return err
			}
			_, err = io.WriteString(c.App.Writer, text)
			return err
		},
	}
}

func exportText(l *lock.Lock, format, name string) (string, error) {
	if !slices.Contains(exportFormats, format) {
		return "", badValue("format", format, "forms are "+strings.Join(exportFormats, ", "))
	}
	if format == "uv" {
		return l.ExportUV()
	}
	if name == "" && len(l.Profiles) == 1 {
		name = l.Profiles[0].Name
	}
	if name == "" {
		return "", &failure{code: exitUsage, text: "the lock has several profiles", hints: []string{"name one with `--profile`: " + strings.Join(l.Names(), ", ")}}
	}
	p, err := l.Profile(name)
	if err != nil {
		return "", &failure{code: exitUsage, text: err.Error(), err: err}
	}
	requirements := "requirements." + p.Name + ".txt"
	switch format {
	case "conda":
		return p.ExportConda(requirements), nil
	case "dockerfile":
		return p.ExportDockerfile(requirements), nil
	}
	k, err := profilePackages(".", p)
	if err != nil {
		return "", err
	}
	return k.Requirements(func(url string) string { return url }), nil
}

// profilePackages reads the pylock file of a profile and holds it to the lock's
// digest; which hosts files may come from is decided where they are fetched.
func profilePackages(dir string, p *lock.Profile) (*lock.Packages, error) {
	b, err := readLockFile(filepath.Join(dir, p.Pylock.File))
	if err != nil {
		return nil, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
	}
	k, err := p.Bind(b, func(string) bool { return true })
	if err != nil {
		return nil, &failure{code: exitIntegrity, text: ui.Clean(err.Error()), err: err}
	}
	return k, nil
}
