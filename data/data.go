// Package data embeds the compatibility matrix that envfix was built with. It
// holds no logic; package matrix reads it.
package data

import "embed"

// FS holds the files of the matrix.
//
//go:embed *.yaml torch/*.yaml devices.tsv names.tsv
var FS embed.FS
