// Package data embeds the compatibility matrix that envfix was built with. It
// holds no logic; package matrix reads it.
package data

import "embed"

// FS holds the files of the matrix.
//
//go:embed *.yaml torch/*.yaml devices.tsv names.tsv
var FS embed.FS

// Compiled is the compiled form of FS, made by `go generate ./data`; it loads ten
// times faster. Package matrix reads the YAML where the two are not of the same
// files.
//
//go:generate go run envfix/internal/datagen -compile .
//go:embed compiled.bin
var Compiled []byte
