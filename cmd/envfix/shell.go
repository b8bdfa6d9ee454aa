package main

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"

	"envfix/internal/cmdline"
	"envfix/internal/fail"
	"envfix/internal/system"

	"github.com/urfave/cli/v2"
)

func shellCommand() *cli.Command {
	return &cli.Command{
		Name:  "shell",
		Usage: "start a shell in the environment; `exit` leaves it",
		Description: `Starts the shell that $SHELL names, lets it read your own start file, and then gives
it what "envfix env" prints, so that nothing in that file comes before the
environment's programs.

EXAMPLES
  envfix shell
  envfix shell --env ~/envs/torch

EXIT STATUS
  The shell's own; 1: there is no environment, or no such shell; 2: usage.`,
		Flags: []cli.Flag{envFlag()},
		Action: cmdline.Taking(0, func(c *cli.Context) error {
			at := placeOf(c).dir
			if _, _, err := environment(at); err != nil {
				return err
			}
			dir, err := filepath.Abs(at)
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			for name, value := range map[string]string{"ENVFIX_SHELL": dir, "ENVFIX_SHELL_PROGRAM": self} {
				if err := os.Setenv(name, value); err != nil {
					return err
				}
			}
			argv, err := shellIn()
			if err != nil {
				return err
			}
			return become(argv)
		}),
	}
}

// into is the line of a POSIX shell's start file that puts the environment into use.
const into = `eval "$("$ENVFIX_SHELL_PROGRAM" env --shell sh --env "$ENVFIX_SHELL")"` + "\n"

// shellIn is the user's shell, told to put the environment into use once it has read the
// user's own start file: bash and zsh by a start file that reads that one first.
func shellIn() ([]string, error) {
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
