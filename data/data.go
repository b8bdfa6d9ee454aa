// Package data embeds the compatibility matrix that envfix was built with. It
// holds no logic; package matrix reads it.
package data

import "embed"

// FS holds the YAML files of the matrix.
//
//go:embed *.yaml torch/*.yaml
var FS embed.FS
