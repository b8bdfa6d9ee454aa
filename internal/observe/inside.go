package observe

import (
	"embed"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

//go:generate sh -c "for v in 8 9 10 11 12 13 14; do command -v python3.$v >/dev/null && python3.$v inside/compile.py; done; true"

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

//go:embed inside/_envfix_old.py
var oldSource []byte

//go:embed inside/_envfix_extra.py
var extraSource []byte

// A lane is the folder through which the probe and envfix talk: the probe's
// source, and a page and a list of events for each process it reached.
type lane struct{ dir string }

// newLane makes the folder where only this user can look, and writes the probe.
// It tries several places, for a full or read-only one must not cost the job.
func newLane(env []string) (*lane, error) {
	var problems []error
	for _, parent := range []string{lookup(env, "XDG_RUNTIME_DIR"), lookup(env, "TMPDIR"), "/tmp", "/var/tmp"} {
		if parent == "" || !filepath.IsAbs(parent) {
			continue
		}
		dir, err := os.MkdirTemp(parent, "envfix-run-") // 0700
		if err != nil {
			problems = append(problems, err)
			continue
		}
		l := &lane{dir}
		if err = l.fill(); err == nil {
			return l, nil
		}
		problems = append(problems, err)
		l.remove()
	}
	return nil, errors.Join(problems...)
}

func (l *lane) fill() error {
	for name, data := range map[string][]byte{"sitecustomize.py": siteSource, "_envfix_probe.py": probeSource, "_envfix_extra.py": extraSource, "_envfix_old.py": oldSource} {
		if err := os.WriteFile(filepath.Join(l.dir, name), data, 0o600); err != nil {
			return err
		}
	}
	if err := l.fillCache(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, "room"), make([]byte, 4*pageSize), 0o600) // is there room for pages?
}

// fillCache lays sitecustomize.py compiled where Python looks for it.
func (l *lane) fillCache() error {
	list, err := compiledSite.ReadDir("inside/compiled")
	if err != nil {
		return err
	}
	cache := filepath.Join(l.dir, "__pycache__")
	if err := os.Mkdir(cache, 0o700); err != nil {
		return err
	}
	for _, e := range list {
		data, err := compiledSite.ReadFile("inside/compiled/" + e.Name())
		if err != nil {
			return err
		}
		if e.Name() == "source" {
			continue
		}
		if err := os.WriteFile(filepath.Join(cache, "sitecustomize."+e.Name()+".pyc"), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// changed reports whether files were made in the folder since the time that seen
// holds, in nanoseconds, and sets it.
func (l *lane) changed(seen *int64) bool {
	st, err := os.Stat(l.dir)
	if err != nil {
		return false
	}
	at := st.ModTime().UnixNano()
	old := *seen
	*seen = at
	return at != old
}

func (l *lane) remove() { os.RemoveAll(l.dir) }

// environment is env with the probe in it.
func (l *lane) environment(env []string, o Options) []string {
	out := make([]string, 0, len(env)+4)
	path := l.dir
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

// lookup is the value of a variable in an environment; "" if it is not there.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
