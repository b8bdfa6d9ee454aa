package team

import (
	"strings"

	"envfix/internal/fail"
)

// Formats are the forms that a lock is exported in.
var Formats = []string{"requirements", "conda", "uv", "dockerfile"}

// Export returns the named profile in another tool's form; "" is the only one. The
// form uv is for all profiles together.
func (t *Team) Export(format, name string) (string, error) {
	l, err := t.Present()
	if err != nil {
		return "", err
	}
	if format == "uv" {
		return l.ExportUV()
	}
	if name == "" && len(l.Profiles) == 1 {
		name = l.Profiles[0].Name
	}
	if name == "" {
		return "", usage("the lock has several profiles", "name one with `--profile`: "+strings.Join(l.Names(), ", "))
	}
	p, err := l.Profile(name)
	if err != nil {
		return "", failed(fail.Usage, err)
	}
	requirements := "requirements." + p.Name + ".txt"
	switch format {
	case "conda":
		return p.ExportConda(requirements), nil
	case "dockerfile":
		return p.ExportDockerfile(requirements), nil
	}
	k, err := t.Packages(p)
	if err != nil {
		return "", err
	}
	return k.Requirements(".", func(url string) string { return url }), nil
}
