//go:build !js

package doctor

import "envfix/internal/doctor/files"

// ofFiles are the rules on files of an environment and on what its Python said.
var ofFiles = files.Rules
