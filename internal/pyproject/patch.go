package pyproject

import (
	"fmt"
	"strings"

	"envfix/internal/text"
	"envfix/resolver"
)

// Patch returns a pyproject.toml that makes uv take torch and its companions
// from the chosen index: an explicit [[tool.uv.index]] and [tool.uv.sources].
// Everything else stays as it was written. A choice from the default index only
// removes sources that lead elsewhere. Patching twice changes nothing more. Its
// error says what has to be changed by hand.
func Patch(content []byte, c *resolver.Choice) ([]byte, error) {
	p, err := ReadProject(content, "pyproject.toml")
	if err != nil {
		return nil, err
	}
	if c == nil || c.Channel != "pip" {
		return nil, fmt.Errorf("the choice does not come from a Python index, so a uv project cannot take it")
	}
	name := "pytorch-" + c.Build
	e := &Edit{Text: content, Name: "pyproject.toml", Table: []string{"tool", "uv", "sources"}}
	for _, pkg := range []string{"torch", "torchvision", "torchaudio"} {
		_, chosen := c.Packages[pkg]
		switch {
		case chosen && c.Index != nil:
			err = e.SetRaw(pkg, text.Form("{ index = %s }", text.JSON(name)))
		case p.sourced(pkg):
			err = e.Remove(pkg)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.Index == nil {
		return e.Text, nil
	}
	err = e.Index(name, *c.Index)
	return e.Text, err
}

// header returns a table header without comment and blanks, "" for other lines.
// A line of a list of lists does not begin with a bracket in the forms that are
// edited here; Edit finds out if one did.
func header(l string) string {
	t := strings.TrimSpace(l)
	if !strings.HasPrefix(t, "[") {
		return ""
	}
	t, _, _ = strings.Cut(t, "#")
	t = strings.ReplaceAll(strings.TrimSpace(t), " ", "")
	if !strings.HasSuffix(t, "]") || strings.ContainsAny(t, `"'{,=`) {
		return ""
	}
	return t
}
