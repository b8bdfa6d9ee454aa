package observe

import (
	"embed"
	"io/fs"
	"strings"

	"envfix/internal/say"
)

//go:generate sh -c "for v in 8 9 10 11 12 13 14; do command -v python3.${DOLLAR}v >/dev/null && python3.${DOLLAR}v inside/compile.py; done; true"

// inside is the probe, and sitecustomize.py as each Python would compile it, by the
// tag in the name of Python's own cache file; "source" is the SHA-256 of what it was
// compiled from.
//
//go:embed inside/_envfix_*.py inside/sitecustomize.py inside/compiled
var inside embed.FS

// environment is env with the probe in it.
func (l *lane) environment(env []string, o Options) []string {
	out := make([]string, 0, len(env)+4)
	path := l.code
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "PYTHONPATH":
			path += say.With(":", value, "")
			continue
		case "ENVFIX_PROBE_DIR", "ENVFIX_PROBE_TRY", "ENVFIX_PROBE_DEEP":
			continue
		}
		out = append(out, pair)
	}
	out = append(out, "PYTHONPATH="+path, "ENVFIX_PROBE_DIR="+l.dir)
	if o.Try != "" {
		out = append(out, "ENVFIX_PROBE_TRY="+o.Try)
	}
	if o.Deep {
		out = append(out, "ENVFIX_PROBE_DEEP=1")
	}
	return out
}

// sources are the files of the folder that PYTHONPATH gets, by name.
func sources() map[string][]byte {
	out := map[string][]byte{}
	fs.WalkDir(inside, "inside", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, "inside/")
		if tag, compiled := strings.CutPrefix(name, "compiled/"); compiled {
			name = "__pycache__/sitecustomize." + tag + ".pyc" // where Python looks for it
		}
		if !d.IsDir() && d.Name() != "source" {
			out[name], err = inside.ReadFile(path)
		}
		return err
	})
	return out
}

// lookup is the value of a variable in an environment; "" if it is not there.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
