// Package schema holds the JSON Schema (2020-12) of everything that envfix prints as
// JSON. Each is made from the types that are printed; what other programs read only
// grows, so every schema admits fields that it does not name.
package schema

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names are the schemas, in alphabetical order.
func Names() []string {
	found, err := fs.Glob(files, "*.json")
	if err != nil {
		panic(err) // a fixed pattern: cannot happen
	}
	for i, name := range found {
		found[i] = strings.TrimSuffix(path.Base(name), ".json")
	}
	return found
}

// Get is a schema's text; false where there is none of that name.
func Get(name string) ([]byte, bool) {
	b, err := files.ReadFile(name + ".json")
	return b, err == nil
}
