package system

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ConfineReading keeps a command that reads from writing anywhere but into caches, and from
// starting what the project brings.
func ConfineReading() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	own := filepath.Join(cache, "envfix", "tmp") // the project may lie in the usual one
	if err := os.MkdirAll(own, 0o700); err != nil {
		return err
	}
	if err := os.Setenv("TMPDIR", own); err != nil {
		return err
	}
	uv := os.Getenv("UV_CACHE_DIR")
	if filepath.IsAbs(uv) {
		_ = os.MkdirAll(uv, 0o755) // uv makes it, where it may
	}
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return err
	}
	// Above here is what a program keeps: the caches of package managers, devices.
	write := []string{cache, uv, "/dev", "/var/cache", "/var/tmp", "/var/lib"}
	start := []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix", "/gnu", "/snap", "/run/current-system", ToolsDir()}
	home, _ := filepath.EvalSymlinks(os.Getenv("HOME"))
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		start = append(start, dir)
		if up := filepath.Dir(dir); !encloses(up, home) { // a program's own files lie beside its bin
			start = append(start, up)
		}
		for _, name := range []string{"uv", "git", "python3"} { // a link may lead to where nothing else of PATH lies
			if real, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil && !encloses(here, real) {
				start = append(start, filepath.Dir(real))
			}
		}
	}
	return Confine(outside(write, here), outside(start, here))
}

// outside are the absolute directories that do not hold another one.
func outside(dirs []string, here string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) || encloses(dir, here) })
}

// encloses reports whether a path, of which the links were followed, is dir or lies below it.
func encloses(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/")
}
