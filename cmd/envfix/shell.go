package main

import (
	"os"
	"path/filepath"

	"envfix/internal/cmdline"
	"envfix/internal/place"

	"github.com/urfave/cli/v2"
)

func shellCommand() *cli.Command {
	return declared("shell", cmdline.Taking(0, func(c *cli.Context) error {
		at := placeOf(c).Dir
		if _, _, err := standing(c.Context, at); err != nil {
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
		argv, err := place.Shell()
		if err != nil {
			return err
		}
		return place.Become(argv)
	}))
}
