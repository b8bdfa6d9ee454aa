// Package owner holds what only the owner of the project can set: addresses that are
// theirs, and who answers their users. docs/publishing.md says when. Nothing else of
// a release is set by hand.
package owner

const (
	// DataURL is the folder of signed data that `envfix matrix update` reads without
	// --from: https, the folder with manifest.txt in it. "" is none.
	DataURL = ""

	// ReleaseURL is the folder that holds each release in a folder of its version:
	// install.sh, Homebrew's formula, scoop's manifest and action.yml download from
	// there. "" is none.
	ReleaseURL = ""

	// Maintainer is who the users of a deb or an rpm write to.
	Maintainer = "envfix maintainers <maintainers@envfix.invalid>"
)
