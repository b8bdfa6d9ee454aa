package system

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"envfix/internal/say"
)

// OnPath is a program of the user's PATH that is named absolutely and lies outside the
// current directory: a command that only reads a project starts nothing that the
// project brings, whatever an activated environment has put first.
func OnPath(name string) (string, error) {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return "", err
	}
	name += say.If(runtime.GOOS == "windows", ".exe")
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		file, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || !filepath.IsAbs(dir) || below(realDir(dir), here) || below(file, here) {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return filepath.Join(dir, name), nil
		}
	}
	return "", fmt.Errorf("%s is not on PATH outside of this directory", name)
}
