//go:build compiledonly

package data

import "embed"

// FS holds, in a build that carries the compiled forms, only what has none.
//
//go:embed wheels.yaml
var FS embed.FS
