package observe

import (
	"embed"
	"strings"
)

//go:generate sh -c "for v in 8 9 10 11 12 13 14; do command -v python3.${DOLLAR}v >/dev/null && python3.${DOLLAR}v inside/compile.py; done; true"

//go:embed inside/sitecustomize.py
var siteSource []byte

// compiledSite is sitecustomize.py as each Python would compile it, by the tag in
// the name of Python's own cache file; "source" is the SHA-256 of what it was
// compiled from.
//
//go:embed inside/compiled
var compiledSite embed.FS

//go:embed inside/_envfix_probe.py
var probeSource []byte

//go:embed inside/_envfix_burst.py
var burstSource []byte

//go:embed inside/_envfix_look.py
var lookSource []byte

//go:embed inside/_envfix_old.py
var oldSource []byte

//go:embed inside/_envfix_extra.py
var extraSource []byte

// environment is env with the probe in it.
func (l *lane) environment(env []string, o Options) []string {
	out := make([]string, 0, len(env)+4)
	path := l.code
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "PYTHONPATH":
			if value != "" {
				path += ":" + value
			}
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
	out := map[string][]byte{"sitecustomize.py": siteSource, "_envfix_probe.py": probeSource, "_envfix_burst.py": burstSource, "_envfix_look.py": lookSource,
		"_envfix_extra.py": extraSource, "_envfix_old.py": oldSource}
	list, err := compiledSite.ReadDir("inside/compiled")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, e := range list {
		if e.Name() == "source" {
			continue
		}
		data, err := compiledSite.ReadFile("inside/compiled/" + e.Name())
		if err != nil {
			panic(err)
		}
		out["__pycache__/sitecustomize."+e.Name()+".pyc"] = data // where Python looks for it
	}
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
