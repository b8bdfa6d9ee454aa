//go:build !compiledonly

package data

import "embed"

// FS holds the files of the matrix as people write them. A release's programs carry
// the compiled forms alone (tag compiledonly), and FS is empty there.
//
//go:embed *.yaml torch/*.yaml catalogue.txt devices.tsv names.tsv
var FS embed.FS
