package place

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"envfix/installers"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/ui"
)

// Activation is what somebody types in a shell to put the environment into use; ""
// where it has nothing for that.
func Activation(dir, shell string) string {
	quoted := text.Command(dir)
	has := func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return err == nil
	}
	if runtime.GOOS == "windows" && !has("conda-meta") {
		return text.Escape(dir) + `\Scripts\activate`
	}
	own := map[string][2]string{ // of uv and the standard library; sh reads none of them, and they not sh's
		"fish": {"source", ".fish"}, "csh": {"source", ".csh"}, "tcsh": {"source", ".csh"}, "nu": {"overlay use", ".nu"},
	}[shell]
	switch script := "/bin/activate" + own[1]; {
	case own[0] != "" && has(script):
		return own[0] + " " + quoted + script
	case has("/bin/activate"):
		return ". " + quoted + "/bin/activate"
	case has("/conda-meta"):
		if !filepath.IsAbs(dir) {
			quoted = "./" + quoted // a bare name is one of conda's own environments
		}
		return "conda activate " + quoted
	}
	return ""
}

// PathRuns reports whether the Python of an environment is there.
func PathRuns(env string) bool {
	_, err := os.Stat(filepath.Join(env, "bin", "python"))
	return err == nil || runtime.GOOS == "windows"
}

// RunsHere is the Python that this shell runs where an environment is active, and the
// environment that it is of, which may be another; "" it is of none, or none is active.
func RunsHere() (dir, program string) {
	active := Active()
	for _, name := range []string{"python", "python3"} {
		program, err := exec.LookPath(name)
		if err != nil || active == "" {
			continue
		}
		for _, dir := range []string{filepath.Dir(filepath.Dir(program)), filepath.Dir(program)} { // conda's lies in the folder itself on Windows
			if IsEnv(dir) {
				return nameOf(dir), program
			}
		}
		return "", program
	}
	return active, active
}

// ShellName is whose language is printed for the user: powershell, fish, or sh for all others.
func ShellName() string {
	return say.Either(runtime.GOOS == "windows", "powershell", say.Either(filepath.Base(os.Getenv("SHELL")) == "fish", "fish", "sh"))
}

// Become is argv from here on; Windows has no such call, and waits for it.
func Become(argv []string) error {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fail.New(fail.Failed, text.Escape(err.Error()), "`envfix add` installs packages, and their programs")
	}
	if runtime.GOOS != "windows" {
		return syscall.Exec(program, argv, os.Environ())
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var ended *exec.ExitError
	if err = cmd.Run(); errors.As(err, &ended) {
		return &fail.Error{Code: ended.ExitCode()}
	}
	return err
}

// into is the line of a POSIX shell's start file that puts the environment into use.
const into = `eval "$("$ENVFIX_SHELL_PROGRAM" env --shell sh --env "$ENVFIX_SHELL")"` + "\n"

// Shell is the user's shell, told to put the environment into use once it has read the
// user's own start file: bash and zsh by a start file that reads that one first.
func Shell() ([]string, error) {
	shell := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	if runtime.GOOS == "windows" {
		return []string{"powershell", "-NoExit", "-Command",
			`& $env:ENVFIX_SHELL_PROGRAM env --shell powershell --env $env:ENVFIX_SHELL | Out-String | Invoke-Expression`}, nil
	}
	switch filepath.Base(shell) {
	case "fish":
		return []string{shell, "-C", `"$ENVFIX_SHELL_PROGRAM" env --shell fish --env "$ENVFIX_SHELL" | source`}, nil
	case "bash":
		file, err := startFile("bashrc", `[ ! -r ~/.bashrc ] || . ~/.bashrc`+"\n"+into)
		return []string{shell, "--rcfile", file, "-i"}, err
	case "zsh":
		file, err := startFile(".zshrc", `ZDOTDIR="$ENVFIX_SHELL_ZDOTDIR"; [ ! -r "$ZDOTDIR/.zshrc" ] || . "$ZDOTDIR/.zshrc"`+"\n"+into)
		if err == nil {
			err = os.Setenv("ENVFIX_SHELL_ZDOTDIR", cmp.Or(os.Getenv("ZDOTDIR"), os.Getenv("HOME")))
		}
		if err == nil {
			err = os.Setenv("ZDOTDIR", filepath.Dir(file))
		}
		return []string{shell, "-i"}, err
	case "sh", "dash", "ash", "ksh":
		file, err := startFile("shrc", into)
		if err == nil {
			err = os.Setenv("ENV", file) // what an interactive one reads, by POSIX
		}
		return []string{shell, "-i"}, err
	}
	return nil, fail.New(fail.Failed, "$SHELL is not bash, zsh, fish or sh", "`envfix env` prints the lines for it", "`SHELL=/bin/bash envfix shell`")
}

// startFile is a file of envfix's cache that a shell reads as it starts.
func startFile(name, content string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "envfix", "shell")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	return file, system.WriteFile(file, []byte(content), 0o600)
}

// Ready says how a new environment is put into use, and how back, where there was
// another before it. short is what the project that it is for cannot import in it: then it is
// not ready.
func Ready(dir string, before bool, short []string) string {
	lacks := say.With(" is there and torch works in it, and the project's sources import what does not: ", strings.Join(say.Few(short, 6, "%d more"), ", "), "")
	text := "envfix: " + text.Escape(dir) + cmp.Or(lacks, " is ready")
	if line := Activation(dir, filepath.Base(os.Getenv("SHELL"))); line != "" {
		text += fmt.Sprintf(": `%s` puts it into use", line)
	}
	text += say.If(before, "; `envfix rollback` goes back")
	return text + "\n"
}

// Environment returns the environment that name stands for now, and its
// directory of programs. The link is resolved: a shell stays with the environment
// that it was started with, also after the next switch.
func Environment(name string) (dir, bin string, err error) {
	missing := func(err error) error {
		makes := []string{"envfix", "apply"}
		if name != Default {
			makes = append(makes, "--env", name)
		}
		return &fail.Error{Code: fail.Failed, Text: fmt.Sprintf("%s is not an environment", text.Escape(name)), Err: err,
			Hints: []string{"`" + text.Escape(text.Command(makes...)) + "` makes it"}}
	}
	if dir, err = filepath.Abs(name); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", "", missing(err)
	}
	for _, python := range []string{"bin/python", "Scripts/python", "Scripts/python.exe", "python.exe"} {
		if _, err := os.Stat(filepath.Join(dir, python)); err == nil {
			return dir, filepath.Dir(filepath.Join(dir, python)), nil
		}
	}
	return "", "", missing(nil)
}

// wslLibraries is where WSL puts the Windows driver's programs and libraries.
const wslLibraries = "/usr/lib/wsl/lib"

// Assignments is what a shell needs for the environment in dir.
func Assignments(h machine.Machine, dir, bin string, fixes []plan.EnvFix) []ui.Assignment {
	sep := string(os.PathListSeparator)
	path := strings.Split(os.Getenv("PATH"), sep)
	kind := say.Either(Exists(filepath.Join(dir, "pyvenv.cfg")), "VIRTUAL_ENV", "CONDA_PREFIX")
	out := []ui.Assignment{{Name: kind, Value: dir}}
	first := []string{bin}
	if h.Platform.Environment == machine.WSL2 && !slices.Contains(path, wslLibraries) {
		first = append(first, wslLibraries) // nvidia-smi lies there
	}
	if path[0] != bin {
		out = append(out, ui.Assignment{Name: "PATH", Value: strings.Join(first, sep), Kind: ui.Prepend})
	}
	var done []string
	for _, f := range fixes {
		if slices.Contains(done, f.Variable) {
			continue
		}
		done = append(done, f.Variable)
		a := ui.Assignment{Name: f.Variable, Value: f.Value}
		if f.Action == "remove" {
			a.Value = installers.Without(os.Getenv(f.Variable), sep, f.Variable, fixes)
			if a.Value == "" {
				a.Kind = ui.Unset
			}
		}
		out = append(out, a)
	}
	return out
}

// Assign changes our own environment as a shell would.
func Assign(a ui.Assignment) error {
	switch a.Kind {
	case ui.Unset:
		return os.Unsetenv(a.Name)
	case ui.Prepend:
		if old := os.Getenv(a.Name); old != "" { // an empty element would be the working directory
			a.Value += string(os.PathListSeparator) + old
		}
	}
	return os.Setenv(a.Name, a.Value)
}
