package propose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/text"
)

// Relock has uv lock a project of these files, in a directory of its own and without the user's
// configuration or logins, and returns the lock. Nothing is built: what only a build would tell
// is an error.
func Relock(ctx context.Context, uv, index string, files map[string][]byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "envfix-relock-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, content := range files {
		path := filepath.Join(dir, "project", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			return nil, err
		}
	}
	env := slices.DeleteFunc(team.UVEnvironment(os.Environ(), index), func(pair string) bool {
		return strings.HasPrefix(pair, "UV_NO_CONFIG=") || strings.HasPrefix(pair, "HOME=") || strings.HasPrefix(pair, "XDG_CONFIG")
	})
	if os.Getenv("UV_CACHE_DIR") == "" { // what the project says of it would be followed
		if cache, err := os.UserCacheDir(); err == nil {
			env = append(env, "UV_CACHE_DIR="+filepath.Join(cache, "uv"))
		}
	}
	env = append(env, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CONFIG_DIRS="+dir, "UV_NO_BUILD=1", "NETRC="+os.DevNull,
		"UV_KEYRING_PROVIDER=disabled", "UV_CREDENTIALS_DIR="+dir)
	var errs bytes.Buffer
	err = system.Run(ctx, system.Command{Argv: []string{uv, "lock"}, Dir: filepath.Join(dir, "project"), Grace: time.Second / 2, Stall: time.Minute, Work: mostTime,
		Made: func(c *exec.Cmd) { c.Env, c.Stdout, c.Stderr = env, &errs, &errs }})
	if err != nil {
		return nil, fmt.Errorf("uv: %s", text.Cut(text.Printable(strings.Join(strings.Fields(errs.String()), " ")), 300))
	}
	return os.ReadFile(filepath.Join(dir, "project", "uv.lock"))
}
