package evidence

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
)

// Named is the package of the compiled module that the evidence names.
func (e Extension) Named(evidence []string) string {
	for _, s := range evidence {
		for _, m := range moduleFile().FindAllStringSubmatch(s, 4) {
			for _, part := range slices.Backward(strings.FieldsFunc(m[1], func(r rune) bool { return r == '/' || r == '\\' })) {
				if p := e.Limit("compiled-modules").Of(part); p != "" {
					return p
				}
			}
		}
	}
	return ""
}

// moduleFile is the path of a compiled module without its tag and ending.
var moduleFile = lazy.Regexp(`([\w./\\+-]*?\w+)(?:\.cpython-\w+|\.cp\d+-\w+|\.abi3)?[\w.-]*\.(?:so|pyd|dll)\b`)
