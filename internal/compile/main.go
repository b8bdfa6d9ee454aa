// Compile writes the compiled forms of a folder of data beside it:
//
//	go generate ./data
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"envfix/internal/doctor/know"
	"envfix/matrix"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/compile DATA")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "compile: error:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	for name, compile := range map[string]func() ([]byte, error){
		"matrix.bin": func() ([]byte, error) {
			m, err := matrix.Load(os.DirFS(dir))
			if err != nil {
				return nil, err
			}
			return matrix.Compile(m)
		},
		"devices.bin":   func() ([]byte, error) { return matrix.CompileDevices(os.DirFS(dir)) },
		"catalogue.bin": func() ([]byte, error) { return know.CompileCatalogue(os.DirFS(dir)) },
		"doctor.bin":    func() ([]byte, error) { return know.Compile(os.DirFS(dir)) },
	} {
		blob, err := compile()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), blob, 0o644); err != nil {
			return err
		}
	}
	return nil
}
