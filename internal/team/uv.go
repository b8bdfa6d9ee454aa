package team

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"envfix/internal/doctor/know"
	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/lock"
	"envfix/internal/plan"
	"envfix/internal/reach"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
)

// A uvTool resolves the packages of a lock.
type uvTool struct {
	path    string
	offline bool
	index   string // in place of the installer's default index; "" that one
	mirrors plan.Mirrors
	tied    []lock.Tied // indexes that packages are tied to
	upgrade bool        // take the newest versions …
	only    []string    // … of these packages; empty: of all
	alone   bool        // only what is asked for, nothing that it needs; and no waiting for an index that is away
}

// compile asks uv which packages a job needs, and returns its pylock text. The
// job's pyproject.toml lies in a directory of its own for that long, beside the
// present pylock file (where there is one; "" none), whose versions uv then keeps.
func (u uvTool) compile(ctx context.Context, j lock.Job, present string) (answer []byte, notes []string, err error) {
	j.Indexes = slices.Clone(j.Indexes) // the profile's own: it names no mirror
	for i := range j.Indexes {
		j.Indexes[i].URL = u.mirrors.There(j.Indexes[i].URL)
	}
	project, err := j.Project()
	if err != nil {
		return nil, nil, err
	}
	r := UVRun{Command: system.Command{Argv: append([]string{u.path}, u.argv(j)...), Second: true, Grace: time.Second}, Leaves: "pylock.toml",
		Files: map[string][]byte{"pyproject.toml": project, placesFile: Lines(j.Places), limitsFile: Lines(j.Constraints), overridesFile: Lines(j.Overrides)}}
	if old, err := ReadFile(present); err == nil {
		r.Files["pylock.toml"] = old
	}
	err = r.Run(ctx, func(string) []string {
		return slices.Concat(UVEnvironment(os.Environ(), u.index), say.Either(u.alone, []string{"UV_HTTP_RETRIES=0", "UV_HTTP_TIMEOUT=10", "UV_HTTP_CONNECT_TIMEOUT=4"}, nil))
	})
	if ctx.Err() != nil {
		return nil, nil, fail.New(fail.Interrupted, "interrupted")
	} else if err != nil {
		return nil, nil, unresolved(r.Errs.Lines(0), err)
	}
	for _, line := range r.Errs.Lines(0) {
		note, ok := strings.CutPrefix(line, "warning: ")
		if ok && !strings.Contains(note, "will be used to build dependencies") { // nothing is built but by the user's word
			notes = append(notes, note)
		}
	}
	return r.Left, notes, nil
}

// packages are those that a job needs, whatever is locked.
func (u uvTool) packages(ctx context.Context, j lock.Job) ([]lock.Package, error) {
	answer, _, err := u.compile(ctx, j, "")
	if err != nil {
		return nil, err
	}
	return lock.ParseUV(answer, nil)
}

// The files beside the pyproject.toml, which has no room for places, and of whose
// constraints uv knows nothing with UV_NO_CONFIG.
const (
	placesFile    = "places.txt"
	limitsFile    = "constraints.txt"
	overridesFile = "overrides.txt"
)

// noWheels is what uv says of a package that has only a source distribution.
var noWheels = lazy.Regexp("Wheels are required for `([^`]+)`")

// Fault is what an installer's words mean, and what to do, as `envfix apply` says it; "" where
// that is not known.
func Fault(said string) (what, hint string) {
	if f := know.Embedded().Fault(strings.ToLower(said)); f != nil && f.What != "" {
		return f.What, cmp.Or(f.Hint, reach.Hint(strings.ToLower(said)))
	}
	return "", ""
}

// unresolved is the error for what uv could not resolve, with the way out.
func unresolved(lines []string, err error) *fail.Error {
	if strings.Join(lines, "") == "" { // it did not even start
		lines = []string{err.Error()}
	}
	f := &fail.Error{Code: fail.Failed, Text: "uv could not resolve the packages", Details: lines, Err: err}
	if m := noWheels().FindStringSubmatch(strings.Join(lines, "\n")); m != nil {
		f.Code = fail.NoSolution
		f.Hints = []string{
			fmt.Sprintf("`envfix lock --build-from-source %s` allows its source distribution: its code then runs here and where it is installed", m[1]),
		}
		return f
	}
	what, hint := Fault(strings.Join(lines, "\n"))
	f.Text += say.With(": ", what, "")
	f.Hints = []string{cmp.Or(hint, "where an index cannot be reached: `--mirror FROM=TO` names another, `--offline` uses what uv has cached")}
	if strings.Contains(strings.Join(lines, "\n"), pytorchHost) {
		f.Hints = append([]string{"`--only-index default` keeps to the installer's default index, `index=default` one target;" +
			" its Linux builds compute on the CPU too"}, f.Hints...)
	}
	return f
}

// pytorchHost serves the indexes of PyTorch's builds that the default index has not.
const pytorchHost = "download.pytorch.org"

func (u uvTool) argv(j lock.Job) []string {
	argv := []string{"pip", "compile", "--no-header", "--only-binary", ":all:", "--output-file", "pylock.toml",
		"--python-version", j.Python, "--python-platform", j.Platform, "pyproject.toml"}
	for _, part := range []struct {
		when  bool
		flags []string
	}{
		{len(j.Places) > 0, []string{placesFile}},
		{len(j.Constraints) > 0, []string{"--constraint", limitsFile}},
		{len(j.Overrides) > 0, []string{"--override", overridesFile}},
		{u.alone, []string{"--no-deps"}},
		{u.offline, []string{"--offline"}},
	} {
		if part.when {
			argv = append(argv, part.flags...)
		}
	}
	for _, name := range j.Build {
		argv = append(argv, "--no-binary", name)
	}
	argv = append(argv, text.Each(j.Options, func(o string) string { return "--" + o })...)
	switch {
	case u.upgrade && len(u.only) == 0:
		argv = append(argv, "--upgrade")
	case u.upgrade:
		argv = append(argv, text.Each(u.only, func(p string) string { return "--upgrade-package=" + p })...)
	}
	return argv
}

// passed are the variables that uv needs of this environment; every other one is
// kept from it, because a preset index or a configuration file would change what
// is locked.
var passed = []string{"HOME", "USER", "LANG", "TZ", "TERM", "TMPDIR", "XDG_CACHE_HOME", "UV_CACHE_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"}

// UVEnvironment is what uv sees. It brings no Python for this: resolving for
// another version needs none of that version, and looking for one to download
// costs seconds, or half a minute without a way out.
func UVEnvironment(environ []string, index string) []string {
	env := []string{"UV_NO_CONFIG=1", "UV_PYTHON_DOWNLOADS=never", "NO_COLOR=1", "PATH=/usr/bin:/bin", "MACOSX_DEPLOYMENT_TARGET=14.0"}
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); slices.Contains(passed, name) || passes(name) {
			env = append(env, pair)
		}
		if path, ok := strings.CutPrefix(pair, "PATH="); ok && slices.Contains(environ, "UV_KEYRING_PROVIDER=subprocess") {
			env = append(env, "PATH="+path) // where the keyring's program is
		}
	}
	if index != "" {
		env = append(env, "UV_DEFAULT_INDEX="+index)
	}
	if file := certificates(environ); file != "" { // pip's and uv's names of the same
		env = append(env, "REQUESTS_CA_BUNDLE="+file)
		if !slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "SSL_CERT_FILE=") }) {
			env = append(env, "SSL_CERT_FILE="+file)
		}
	}
	return env
}

// certificates is the file of certificates that the user's environment names; "" none.
func certificates(environ []string) string {
	for _, name := range []string{"PIP_CERT=", "REQUESTS_CA_BUNDLE=", "CURL_CA_BUNDLE=", "SSL_CERT_FILE="} {
		for _, pair := range environ {
			if file, ok := strings.CutPrefix(pair, name); ok && file != "" {
				return file
			}
		}
	}
	return ""
}

// uv is the uv that resolves, with what the wish and the environment say of indexes.
func (t *Team) uv(ctx context.Context, w Wish, in lock.Input) (uvTool, error) {
	u := uvTool{offline: w.Offline, upgrade: w.Upgrade, only: w.Only, mirrors: w.Mirrors, tied: in.Indexes, index: cmp.Or(DefaultIndex(w.Mirrors), in.DefaultIndex)}
	var err error
	u.path, err = t.findUV(ctx, u)
	return u, err
}

// mostTail is how much of what a program says is kept, in bytes.
const mostTail = 64 << 10
