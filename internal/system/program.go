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

// EnvProgram is where a virtual environment has a program.
func EnvProgram(env, name string) string {
	return say.Either(runtime.GOOS == "windows", filepath.Join(env, "Scripts", name+".exe"), filepath.Join(env, "bin", name))
}

// UV is the uv on PATH, see [OnPath], else the one that envfix brought below tools; ""
// where there is neither.
func UV(tools string) string {
	path, err := OnPath("uv")
	return say.Either(err == nil, path, OwnTool(tools, "uv"))
}

// OwnTool is a program in the environment of its name that envfix made below tools, see
// [ToolsDir]; "" where there is none.
func OwnTool(tools, name string) string {
	path := EnvProgram(filepath.Join(tools, name), name)
	info, err := os.Stat(path)
	return say.If(err == nil && info.Mode().IsRegular(), path)
}
