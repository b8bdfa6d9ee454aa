package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/lock"
	"envfix/internal/ui"
)

// A uvTool resolves the packages of a lock.
type uvTool struct {
	path    string
	offline bool
	index   string      // in place of the installer's default index; "" that one
	mirrors [][2]string // FROM, TO: prefixes of URLs
	upgrade bool        // take the newest versions …
	only    []string    // … of these packages; empty: of all
}

// mirrored returns where a URL is really fetched.
func (u uvTool) mirrored(url string) string {
	for _, m := range u.mirrors {
		if there, ok := lock.Moved(url, m[0], m[1]); ok {
			return there
		}
	}
	return url
}

// canonical undoes mirrored: a lock names where files are from, not who passed
// them on here.
func (u uvTool) canonical(packages []lock.Package) {
	for _, k := range packages {
		for i, w := range k.Wheels {
			for _, m := range u.mirrors {
				if from, ok := lock.Moved(w.URL, m[1], m[0]); ok {
					k.Wheels[i].URL = from
				}
			}
		}
	}
}

// compile asks uv which packages a job needs, and returns its pylock text. The
// job's pyproject.toml lies in a directory of its own for that long, beside the
// present pylock file (where there is one), whose versions uv then keeps.
func (u uvTool) compile(ctx context.Context, j lock.Job, present string) ([]byte, error) {
	j.Indexes = slices.Clone(j.Indexes) // the profile's own: it names no mirror
	for i := range j.Indexes {
		j.Indexes[i].URL = u.mirrored(j.Indexes[i].URL)
	}
	project, err := j.Project()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "envfix-lock-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "pyproject.toml"), project, 0o600); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "pylock.toml")
	if old, err := readLockFile(present); err == nil {
		if err := os.WriteFile(out, old, 0o600); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, u.path, u.argv(j)...)
	cmd.Dir, cmd.Env = dir, uvEnvironment(os.Environ(), u.index)
	cmd.WaitDelay = time.Second // what it started may keep the pipe
	errs := lastBytes{most: 64 << 10}
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, &failure{code: exitInterrupted, text: "interrupted"}
		}
		lines := strings.Split(strings.TrimSpace(ui.CleanLines(errs.String())), "\n")
		return nil, &failure{code: exitFailed, text: "uv could not resolve the packages", details: lines, err: err,
			hints: []string{"where an index cannot be reached: `--mirror FROM=TO` names another, `--offline` uses what uv has cached"}}
	}
	return readLockFile(out)
}

func (u uvTool) argv(j lock.Job) []string {
	argv := []string{"pip", "compile", "--quiet", "--no-header", "--only-binary", ":all:", "--output-file", "pylock.toml",
		"--python-version", j.Python, "--python-platform", j.Platform, "pyproject.toml"}
	if u.offline {
		argv = append(argv, "--offline")
	}
	switch {
	case u.upgrade && len(u.only) == 0:
		argv = append(argv, "--upgrade")
	case u.upgrade:
		for _, p := range u.only {
			argv = append(argv, "--upgrade-package="+p)
		}
	}
	return argv
}

// passed are the variables that uv needs of this environment; every other one is
// kept from it, because a preset index or a configuration file would change what
// is locked.
var passed = []string{"HOME", "USER", "LANG", "TZ", "TERM", "TMPDIR", "XDG_CACHE_HOME", "UV_CACHE_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"}

// uvEnvironment is what uv sees. It brings no Python for this: resolving for
// another version needs none of that version, and looking for one to download
// costs seconds, or half a minute without a way out.
func uvEnvironment(environ []string, index string) []string {
	env := []string{"UV_NO_CONFIG=1", "UV_PYTHON_DOWNLOADS=never", "NO_COLOR=1", "PATH=/usr/bin:/bin", "MACOSX_DEPLOYMENT_TARGET=14.0"}
	for _, name := range passed {
		for _, pair := range environ {
			if strings.HasPrefix(pair, name+"=") {
				env = append(env, pair)
			}
		}
	}
	if index != "" {
		env = append(env, "UV_DEFAULT_INDEX="+index)
	}
	return env
}

// findUV looks for uv on PATH and in envfix's own tool environment.
func findUV() (string, error) {
	if path, err := exec.LookPath("uv"); err == nil {
		return path, nil
	}
	path := filepath.Join(toolsDir(), "uv", "bin", "uv")
	if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
		return path, nil
	}
	return "", &failure{code: exitFailed, text: "locking for several systems needs uv, and none is here",
		hints: []string{"`python3 -m pip install uv` in any environment, or `envfix apply` once, which brings it"}}
}
