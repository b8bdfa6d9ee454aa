package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/maintain"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixHarvestCommand() *cli.Command {
	return declared("matrix harvest", func(c *cli.Context) error {
		if dir := c.String("files"); dir != "" && c.NArg() == 0 {
			return matrixHarvestFiles(c.Context, dir, c.String("index"), c.App.Writer)
		}
		write := func(read func(*maintain.Index, maintain.Progress) (text.Quoted, []string, error)) error {
			return harvested(c.Context, c.String("index"), c.String("out"), c.App.Writer, read)
		}
		if r, err := pep508.Parse(c.Args().First(), ""); err == nil && c.NArg() == 1 && r.Name != "torch" {
			return write(func(x *maintain.Index, told maintain.Progress) (text.Quoted, []string, error) {
				draft, err := maintain.HarvestPackage(c.Context, x, matrixFor(), r, today(), told)
				return draft, nil, err
			})
		}
		spec, label, err := torchArgument(c)
		if err != nil {
			return err
		}
		torch, err := version.ParsePython(strings.TrimLeft(spec.String(), "="))
		if err != nil || label != "" || !strings.HasPrefix(spec.String(), "==") {
			return fail.Wrong("one release is harvested at a time", "`envfix matrix harvest torch==2.15.0`")
		}
		return write(func(x *maintain.Index, told maintain.Progress) (text.Quoted, []string, error) {
			return maintain.Harvest(c.Context, x, matrixFor(), torch, today(), told)
		})
	})
}

// harvested writes what is read from the index at an address to a new file, or where out is ""
// to w; what a person is to know of it is warned of.
func harvested(ctx context.Context, address, out string, w io.Writer, read func(*maintain.Index, maintain.Progress) (text.Quoted, []string, error)) error {
	var notes []string
	draft, err := fromIndex(ctx, address, func(x *maintain.Index, told maintain.Progress) (draft text.Quoted, err error) {
		draft, notes, err = read(x, told)
		return draft, err
	})
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(stderr(), "envfix: warning: %s\n", ui.Clean(n))
	}
	if out != "" {
		return writeNew(out, draft)
	}
	return writeForm(w, draft)
}

// fromIndex is what is read from the index at an address, with a line that says how far
// that is.
func fromIndex[T any](ctx context.Context, address string, read func(*maintain.Index, maintain.Progress) (T, error)) (T, error) {
	x, err := maintain.Open(ctx, address)
	if err != nil {
		return *new(T), err
	}
	bar := progressOf("reading the index: "+x.Name(), x.Received)
	defer bar.end()
	return read(x, bar.step)
}

// matrixHarvestFiles renews the files.yaml of a directory of data.
func matrixHarvestFiles(ctx context.Context, dir, address string, w io.Writer) error {
	var missing []string
	rows, err := fromIndex(ctx, address, func(x *maintain.Index, told maintain.Progress) (rows int, err error) {
		rows, missing, err = maintain.HarvestFiles(ctx, x, dir, today(), told)
		return rows, err
	})
	if err != nil {
		return err
	}
	for _, n := range missing {
		fmt.Fprintf(stderr(), "envfix: warning: the index has no %s\n", ui.Clean(n))
	}
	_, err = fmt.Fprintf(w, "wrote %s with %d rows\n", ui.Clean(filepath.Join(dir, matrix.FilesFile)), rows)
	return err
}

// writeNew writes a file that must not be there yet.
func writeNew(name string, form text.Quoted) error {
	f, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fail.Wrong(ui.Clean(name)+" is there already", "without `--out` the draft is printed")
	}
	if err != nil {
		return fail.New(fail.Failed, ui.Clean(err.Error()))
	}
	_, err = form.WriteTo(f)
	return errors.Join(err, f.Close())
}
