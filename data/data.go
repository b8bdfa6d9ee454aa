// Package data embeds the compatibility matrix that envfix was built with. It
// holds no logic; package matrix reads it.
package data

import _ "embed"

// Knowledge are the files of FS that the doctor's package know reads, in the order in which
// one names what is in another.
var Knowledge = []string{
	"causes.yaml", "checks.yaml", "messages.yaml", "clues.yaml", "xids.yaml", "limits.yaml", "rules_torch.yaml", "rules_driver.yaml",
	"rules_code.yaml", "rules_machine.yaml", "rules_containers.yaml", "rules_environment.yaml", "rules_around.yaml",
	"rules_libraries.yaml", "readers_torch.yaml", "readers_around.yaml", "installers.yaml", "classes.yaml",
}

// The compiled forms of FS, made by `go generate ./data`: one for each part, so
// that a command reads what it needs. Tests keep them in step with the files.
//
//go:generate go run envfix/internal/compile .
var (
	//go:embed matrix.bin
	Matrix string
	//go:embed devices.bin
	Devices string
	//go:embed doctor.bin
	Doctor string
	//go:embed catalogue.bin
	Catalogue string
	// Modules are the modules that distributions bring; it has no other form.
	//go:embed modules.tsv
	Modules string
	// Verdicts are those on a job, in words; it has no other form either.
	//go:embed verdicts.tsv
	Verdicts string
)
