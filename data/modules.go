//go:build !js

package data

import _ "embed"

// Modules are the modules that distributions bring; it has no other form.
//
//go:embed modules.tsv
var Modules string
