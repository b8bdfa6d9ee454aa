package apply

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"envfix/internal/system"
)

// preflight refuses what cannot end well before anything is begun: too little
// space for what the plan says it receives and keeps.
func (r *run) preflight(ctx context.Context) error {
	if err := r.preflightSystem(ctx); err != nil {
		return err
	}
	var disk, receive int64
	for _, s := range r.plan.Steps {
		if !s.Root {
			disk += s.Disk
			receive += s.Bytes
		}
	}
	// Installers unpack into the environment, and keep or pass each wheel through
	// their cache: both are needed, and the tenth more is what file systems lose.
	target := filepath.Dir(r.env.Dir)
	need := map[string]int64{target: disk + disk/10}
	if cache := cacheDir(); cache != "" && !r.plan.Target.Offline {
		if system.SameDisk(cache, target) {
			cache = target
		}
		need[cache] += receive + receive/10
	}
	for dir, bytes := range need {
		free, files, err := system.Free(dir)
		if err != nil {
			return err
		}
		if bytes > 0 && uint64(bytes) > free {
			return &Error{Kind: Preflight,
				Text:  fmt.Sprintf("%s has %s free, and the plan needs about %s there", dir, size(int64(free)), size(bytes)),
				Hints: []string{"make space, or name a place with more: `--env DIR`"}}
		}
		if bytes > 0 && files < 100 {
			return &Error{Kind: Preflight, Text: fmt.Sprintf("%s has no room for more files (inodes)", dir)}
		}
	}
	return nil
}

// cacheDir is an existing directory on the file system of the installers' caches.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d kB", (n+999)/1000)
}
