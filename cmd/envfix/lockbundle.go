package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/ui"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

// bundleWheels is the folder of a bundle that the wheels lie in.
const bundleWheels = "wheels"

func lockBundleCommand() *cli.Command {
	return &cli.Command{
		Name: "bundle", Usage: "put the lock and all its files into a folder, for machines without network", ArgsUsage: "DIR",
		Description: `DIR then holds envfix.lock, the pylock files, wheels/ and SHA256SUMS. A second run
receives only what is missing.

EXAMPLES
  envfix lock bundle /media/stick/team --profile v100
  envfix apply --bundle /media/stick/team --yes`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "profile", Usage: "only this `NAME`; repeat it"},
			&cli.StringSliceFlag{Name: "mirror", Usage: "`FROM=TO`: fetch TO wherever FROM is named"},
		},
		Action: bundleAction,
	}
}

func bundleAction(c *cli.Context) error {
	if c.NArg() != 1 {
		return &failure{code: exitUsage, text: "`envfix lock bundle` needs one folder", hints: []string{"`envfix lock bundle DIR`"}}
	}
	l, err := presentLock(".")
	if err != nil {
		return err
	}
	u, err := mirrorsOf(c)
	if err != nil {
		return err
	}
	dir := c.Args().First()
	if err := os.MkdirAll(filepath.Join(dir, bundleWheels), 0o755); err != nil {
		return &failure{code: exitPreflight, text: ui.Clean(err.Error()), err: err}
	}
	facts := newFileFacts(&matrix.Matrix{}, u.mirrored)
	sums := map[string]string{}
	for _, p := range l.Profiles {
		if only := c.StringSlice("profile"); len(only) > 0 && !slices.Contains(only, p.Name) {
			continue
		}
		k, err := profilePackages(".", &p)
		if err != nil {
			return err
		}
		for _, w := range k.Files() {
			if sums[w.Name] != "" {
				continue
			}
			fmt.Fprintf(os.Stderr, "envfix: %s (%.1f MB)\n", w.Name, float64(w.Size)/1e6)
			if err := facts.save(c.Context, w, filepath.Join(dir, bundleWheels, w.Name)); err != nil {
				return err
			}
			sums[w.Name] = w.Hashes.SHA256
		}
	}
	if len(sums) == 0 {
		return &failure{code: exitUsage, text: "no profile of that name", hints: []string{"profiles are " + strings.Join(l.Names(), ", ")}}
	}
	return finishBundle(dir, l, sums)
}

// finishBundle writes the sums, the pylock files, and the lock last: a bundle that
// was interrupted has none.
func finishBundle(dir string, l *lock.Lock, sums map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s/%s\n", sums[name], bundleWheels, name)
	}
	if err := writeTeamFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String())); err != nil {
		return err
	}
	for _, name := range append(pylockFiles(l), lock.File) {
		text, err := readLockFile(name)
		if err != nil {
			return &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err}
		}
		if err := writeTeamFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	_, err := fmt.Printf("%s in %s\n", count(len(sums), "file"), ui.Clean(dir))
	return err
}

func pylockFiles(l *lock.Lock) []string {
	var out []string
	for _, p := range l.Profiles {
		out = append(out, p.Pylock.File)
	}
	return out
}

// save receives a wheel into path unless it is there already, and keeps it only
// with the pinned SHA-256.
func (f *fileFacts) save(ctx context.Context, w lock.Wheel, path string) error {
	if sum, err := fileSum(path); err == nil && sum == w.Hashes.SHA256 {
		return nil
	}
	resp, err := f.do(ctx, http.MethodGet, w.URL)
	if err != nil {
		return &failure{code: exitFailed, text: fmt.Sprintf("%s: %s", w.Name, ui.Clean(err.Error())), err: err}
	}
	defer resp.Body.Close()
	part, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return &failure{code: exitPreflight, text: ui.Clean(err.Error()), err: err}
	}
	defer os.Remove(part.Name())
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(part, h), io.LimitReader(resp.Body, w.Size+1))
	if err = errors.Join(err, part.Chmod(0o644), part.Sync(), part.Close()); err != nil {
		return &failure{code: exitFailed, text: fmt.Sprintf("%s: %s", w.Name, ui.Clean(err.Error())), err: err}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != w.Hashes.SHA256 {
		return &failure{code: exitIntegrity, text: fmt.Sprintf("%s: its sha256 is %s, the lock says %s", w.Name, got, w.Hashes.SHA256)}
	}
	return os.Rename(part.Name(), path)
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
