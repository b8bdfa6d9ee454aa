package team

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

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/matrix"
)

// BundleWheels is the folder of a bundle that the wheels lie in.
const BundleWheels = "wheels"

// Bundle puts the lock, the files of its profiles and uv into dir, and returns how many
// files there are. only names profiles; empty: all. It calls tell before
// each file, and as its bytes come.
func (t *Team) Bundle(ctx context.Context, dir string, only []string, mirrors plan.Mirrors, tell func(Receipt)) (int, error) {
	l, err := t.Present()
	if err != nil {
		return 0, err
	}
	u, err := t.uv(ctx, Wish{Mirrors: mirrors}, t.own())
	if err != nil {
		return 0, err
	}
	profiles := slices.DeleteFunc(slices.Clone(l.Profiles), func(p lock.Profile) bool { return len(only) > 0 && !slices.Contains(only, p.Name) })
	if len(profiles) == 0 {
		return 0, fail.Wrong("no profile of that name", "profiles are "+strings.Join(l.Names(), ", "))
	}
	allowed := t.allowed(mirrors)
	facts := newFileFacts(&matrix.Matrix{}, u, allowed)
	var all []lock.Package
	for _, p := range profiles {
		k, err := t.bound(&p, allowed)
		if err != nil {
			return 0, err
		}
		if built := k.Sources(); len(built) > 0 {
			return 0, fail.Wrong(fmt.Sprintf("profile %s builds %s from source, which needs its build tools and a network", p.Name, built[0].Name),
				"put a wheel of it beside the lock and ask for `NAME @ file:///…`, or leave the profile out with `--profile`")
		}
		if err := facts.vouched(ctx, u, p, k.Packages); err != nil {
			return 0, err
		}
		all = append(all, k.Packages...)
	}
	tools, err := t.tools(ctx, u, profiles, facts)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil { // an index without uv: pip installs, and apply says so
		tools = nil
		_ = os.Remove(filepath.Join(dir, toolsFile)) // it may be an earlier bundle's
	}
	if err := os.MkdirAll(filepath.Join(dir, BundleWheels), 0o755); err != nil {
		return 0, fail.Wrap(fail.Preflight, err)
	}
	sums, err := fetchAll(ctx, t, facts, append(all, tools...), filepath.Join(dir, BundleWheels), tell)
	if err != nil {
		return 0, err
	}
	if len(tools) > 0 {
		if err := writeFile(filepath.Join(dir, toolsFile), toolsText(tools)); err != nil {
			return 0, err
		}
	}
	return len(sums), t.finishBundle(dir, l, sums)
}

// fetchAll fetches the packages' files into dir, tells what came, and returns their SHA-256 by name.
func fetchAll(ctx context.Context, t *Team, facts *fileFacts, packages []lock.Package, dir string, tell func(Receipt)) (map[string]string, error) {
	sums, files, r := map[string]string{}, []lock.Wheel(nil), Receipt{}
	for _, k := range packages {
		for _, w := range k.Files() {
			if sums[w.Name] == "" {
				sums[w.Name], files, r.Total = w.Hashes.SHA256, append(files, w), r.Total+w.Size
			}
		}
	}
	for _, w := range files {
		before := r.Got
		r.File, r.Size = w.Name, w.Size
		tell(r)
		facts.came = func(n int64) { r.Got += n; tell(r) }
		if err := t.fetch(ctx, facts, w, filepath.Join(dir, w.Name)); err != nil {
			return nil, err
		}
		r.Got = before + w.Size // also where it was there
	}
	return sums, nil
}

// vouched refuses files that lie where neither the data nor the user nor the installer's
// default index says. A package of that index is installed by its name, so what a lock
// says of its address is nobody's word yet: the installer is asked where it finds it.
func (f *fileFacts) vouched(ctx context.Context, u uvTool, p lock.Profile, packages []lock.Package) error {
	platform, err := lock.UVPlatform(p.Match)
	if err != nil {
		return fail.Wrap(fail.Integrity, err)
	}
	u.alone = true
	for _, k := range packages {
		for _, w := range k.Files() {
			switch {
			case w.URL == "" || f.allowed.File(f.mirror(w.URL)):
				continue
			case k.Archive != nil: // asked for by this very address
				f.said([]lock.Package{k})
				continue
			}
			job := lock.Job{Requirements: []string{k.Name + "==" + k.Version}, Python: strings.TrimSuffix(p.Python, "t"), Platform: platform}
			if found, err := u.packages(ctx, job); err == nil {
				f.said(found)
			}
			if !f.allowed.File(f.mirror(w.URL)) {
				return fail.New(fail.Integrity, fmt.Sprintf("a file of %s lies on %s, which the installer's default index does not name", k.Name, clean(w.Host())),
					"`--mirror default=URL` names the index that the lock was made from")
			}
		}
	}
	return nil
}

// A Receipt says how far a bundle is: in which file, and how much of all bytes is there.
type Receipt struct {
	File             string
	Size, Got, Total int64 // of the file; of all
}

// fetch brings a file of the lock: from beside it, or from where it is.
func (t *Team) fetch(ctx context.Context, facts *fileFacts, w lock.Wheel, path string) error {
	if w.Path == "" {
		return facts.save(ctx, w, path)
	}
	b, err := os.ReadFile(t.path(w.Path))
	if err == nil && lock.Sum(b) != w.Hashes.SHA256 {
		return fail.New(fail.Integrity, w.Path+" is not the file that the lock pins")
	}
	if err != nil {
		return fail.Wrap(fail.Usage, err)
	}
	return writeFile(path, b)
}

// finishBundle writes the sums, the pylock files, and the lock last: a bundle that
// was interrupted has none.
func (t *Team) finishBundle(dir string, l *lock.Lock, sums map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s/%s\n", sums[name], BundleWheels, name)
	}
	if err := writeFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String())); err != nil {
		return err
	}
	for _, name := range append(text.Each(l.Profiles, func(p lock.Profile) string { return p.Pylock.File }), lock.File) {
		text, err := ReadFile(t.path(name))
		if err != nil {
			return fail.Wrap(fail.Usage, err)
		}
		if err := writeFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

// save receives a wheel into path unless it is there already, and keeps it only
// with the pinned SHA-256.
func (f *fileFacts) save(ctx context.Context, w lock.Wheel, path string) error {
	if _, sum, err := system.FileSum(path); err == nil && sum == w.Hashes.SHA256 {
		return nil
	}
	resp, err := f.do(ctx, http.MethodGet, w.URL)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s: %s", w.Name, clean(err.Error())), Err: err}
	}
	defer resp.Body.Close()
	part, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return fail.Wrap(fail.Preflight, err)
	}
	defer os.Remove(part.Name())
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(part, h, f), io.LimitReader(resp.Body, w.Size+1))
	if err = errors.Join(err, part.Chmod(0o644), part.Sync(), part.Close()); ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s: %s", w.Name, clean(err.Error())), Err: err}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != w.Hashes.SHA256 {
		return fail.New(fail.Integrity, fmt.Sprintf("%s: its sha256 is %s, the lock says %s", w.Name, got, w.Hashes.SHA256))
	}
	return os.Rename(part.Name(), path)
}

// Write tells of bytes that came.
func (f *fileFacts) Write(b []byte) (int, error) {
	if f.came != nil {
		f.came(int64(len(b)))
	}
	return len(b), nil
}
