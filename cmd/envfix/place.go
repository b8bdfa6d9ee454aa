package main

import (
	"envfix/internal/place"

	"github.com/urfave/cli/v2"
)

// placeOf is the environment of a command with the flag --env.
func placeOf(c *cli.Context) place.Place {
	if c.IsSet("env") {
		return place.Named(c.String("env"))
	}
	return place.Here()
}
