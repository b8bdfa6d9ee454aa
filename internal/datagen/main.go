// Datagen writes the generated files of data/ from collected facts:
//
//	go run ./internal/datagen ../shared/facts
//
// and their compiled form, after which any change of data/ by hand asks too:
//
//	go generate ./data
//
// It copies and regroups, it decides nothing: a value that the facts do not
// carry is not written. Files of data/ that no table could give (conda, defects,
// architectures, install commands) are kept by hand and left alone.
package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"

	"envfix/matrix"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "-compile":
		err = compile(os.Args[2])
	case len(os.Args) == 2 && os.Args[1][0] != '-':
		if err = run(os.Args[1], "data"); err == nil {
			err = compile("data")
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/datagen FACTS\n       go run ./internal/datagen -compile DATA")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "datagen: error:", err)
		os.Exit(1)
	}
}

func run(facts, out string) error {
	f := &factory{facts: facts, files: map[string][]byte{}}
	for _, step := range []func() error{f.torch, f.cuda, f.drivers, f.cudnn, f.libraries, f.rocm, f.extensions, f.devices} {
		if err := step(); err != nil {
			return err
		}
	}
	for name, text := range f.files {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile writes the compiled form of a folder of data.
func compile(dir string) error {
	m, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		return err
	}
	text, err := matrix.Compile(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "compiled.bin"), text, 0o644)
}

// A factory holds the facts' folder and the files made so far.
type factory struct {
	facts string
	files map[string][]byte
}

// A row is one line of a CSV file by column.
type row map[string]string

// table reads a CSV file of the facts.
func (f *factory) table(name string) ([]row, error) {
	file, err := os.Open(filepath.Join(f.facts, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rows []row
	for _, l := range lines[1:] {
		r := row{}
		for i, column := range lines[0] {
			r[column] = l[i]
		}
		rows = append(rows, r)
	}
	return rows, nil
}
