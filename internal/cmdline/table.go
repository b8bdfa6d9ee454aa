package cmdline

import (
	"envfix/internal/describe"

	"github.com/urfave/cli/v2"
)

// Declared are the flags of a table as the library declares them.
func Declared[T any](flags []describe.Flag[T]) []cli.Flag {
	var out []cli.Flag
	for _, f := range flags {
		switch f.Field(new(T)).(type) {
		case *bool:
			out = append(out, &cli.BoolFlag{Name: f.Name, Usage: f.Usage})
		case *[]string:
			out = append(out, &cli.StringSliceFlag{Name: f.Name, Usage: f.Usage})
		default:
			out = append(out, &cli.StringFlag{Name: f.Name, Usage: f.Usage})
		}
	}
	return out
}

// Given is what the flags of a table say in a call; those that the command does not have
// say nothing.
func Given[T any](c *cli.Context, flags []describe.Flag[T]) (v T) {
	for _, f := range flags {
		switch field := f.Field(&v).(type) {
		case *bool:
			*field = c.Bool(f.Name)
		case *string:
			*field = c.String(f.Name)
		case *[]string:
			*field = c.StringSlice(f.Name)
		}
	}
	return v
}
