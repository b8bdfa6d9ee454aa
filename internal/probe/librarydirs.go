package probe

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// wheelLibrary matches the libraries that wheels of torch and of NVIDIA bring.
var wheelLibrary = lazy.Regexp(`^lib(cu|nv|nccl|torch|c10)[A-Za-z0-9_-]*\.so[.0-9]*$`)

// Most that is looked at: nobody's LD_LIBRARY_PATH is longer on purpose.
const (
	maxDirs  = 64
	maxFiles = 200
)

// loaderPath reads the entries of LD_LIBRARY_PATH, which the loader searches
// before the libraries that torch brings.
func (h *host) loaderPath() []machine.LibraryDir {
	var out []machine.LibraryDir
	from := &origins{h: h}
	for entry := range strings.SplitSeq(h.env["LD_LIBRARY_PATH"], ":") {
		if entry == "" || len(out) == maxDirs || slices.ContainsFunc(out, func(d machine.LibraryDir) bool { return d.Path == entry }) {
			continue
		}
		d := machine.LibraryDir{Path: text.Printable(entry), Files: []string{}, Origins: from.of("LD_LIBRARY_PATH", entry)}
		if len(d.Origins) > 0 {
			d.From = d.Origins[0].Place()
		}
		for _, name := range h.names(entry) {
			if wheelLibrary().MatchString(name) && len(d.Files) < maxFiles {
				d.Files = append(d.Files, name)
			}
		}
		out = append(out, d)
	}
	return out
}
