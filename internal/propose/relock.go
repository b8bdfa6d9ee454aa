package propose

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/system"
	"envfix/internal/team"
)

// Relock has uv lock a project of these files, in a directory of its own and without the user's
// configuration or logins, and returns the lock. Nothing is built: what only a build would tell
// is an error.
func Relock(ctx context.Context, uv, index string, files map[string][]byte) ([]byte, error) {
	env := slices.DeleteFunc(team.UVEnvironment(os.Environ(), index), func(pair string) bool {
		return strings.HasPrefix(pair, "UV_NO_CONFIG=") || strings.HasPrefix(pair, "HOME=") || strings.HasPrefix(pair, "XDG_CONFIG")
	})
	if os.Getenv("UV_CACHE_DIR") == "" { // what the project says of it would be followed
		if cache, err := os.UserCacheDir(); err == nil {
			env = append(env, "UV_CACHE_DIR="+filepath.Join(cache, "uv"))
		}
	}
	r := team.UVRun{Command: system.Command{Argv: []string{uv, "lock"}, Dir: "project", Grace: time.Second / 2, Stall: time.Minute, Work: mostTime}, Files: files, Leaves: "uv.lock"}
	err := r.Run(ctx, func(dir string) []string {
		return slices.Concat(env, team.Stranger(dir), []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CONFIG_DIRS=" + dir, "UV_NO_BUILD=1"})
	})
	if err != nil {
		return nil, failed(&r, err)
	}
	return r.Left, nil
}
