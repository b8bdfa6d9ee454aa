package pyproject

import (
	"errors"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/resolver"
)

// PatchPoetry returns the pyproject.toml of a project of Poetry that takes torch and its
// companions in the chosen build, from an index that serves nothing else; dependencies of
// [project] are narrowed by the same lines. Everything else stays as it was written. Its
// error says what has to be changed by hand.
func PatchPoetry(content []byte, name string, c *resolver.Choice, _ machine.Platform) ([]byte, error) {
	e := &Edit{Text: content, Name: name, Table: []string{"tool", "poetry", "dependencies"}}
	var failed []error
	for _, p := range sortedKeys(c.Packages) {
		public, label := version.SplitLocal(c.Packages[p])
		switch {
		case public == "": // any
		case label == "" || c.Index == nil:
			failed = append(failed, e.Set(p, public))
		default:
			failed = append(failed, e.SetRaw(p, text.Form("{ version = %s, source = %s }", text.JSON(c.Packages[p]), text.JSON("pytorch-"+c.Build))))
		}
	}
	if c.Index != nil {
		failed = append(failed, e.index("poetry", "source", `priority = "explicit"`, "pytorch-"+c.Build, *c.Index))
	}
	return e.Text, errors.Join(failed...)
}
