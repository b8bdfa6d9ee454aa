package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/probe"
	"envfix/internal/system"
)

// alone marks the context of a process that runs one command: it may confine itself.
type alone struct{}

func aloneIn(ctx context.Context) context.Context { return context.WithValue(ctx, alone{}, true) }

// looks begins to look at this machine, as far as that needs rights, and confines the
// process before anything of a project is read: NVIDIA's library may start nvidia-modprobe,
// and who uses a GPU is read of processes that a confined one does not see.
func (f *machineFlags) looks(ctx context.Context) {
	if ctx.Value(alone{}) == nil {
		return
	}
	if f.facts == "" {
		o := probeOptions("")
		o.Use = f.mode == examines
		f.begun = probe.Begin(ctx, o)
	}
	_ = confine(ctx) // without it the answers are the same
}

// confine keeps a command that reads from writing anywhere but into caches, and from
// starting what the project brings.
func confine(ctx context.Context) error {
	if ctx.Value(alone{}) == nil {
		return nil
	}
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
	start := []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix", "/gnu", "/snap", "/run/current-system", toolsDir()}
	home, _ := filepath.EvalSymlinks(os.Getenv("HOME"))
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		start = append(start, dir)
		if up := filepath.Dir(dir); !encloses(up, home) { // a program's own files lie beside its bin
			start = append(start, up)
		}
	}
	return system.Confine(outside(write, here), outside(start, here))
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
