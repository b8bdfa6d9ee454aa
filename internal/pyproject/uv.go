package pyproject

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/resolver"
)

// Patch writes a choice into a pyproject.toml, by the tool whose it is, with its index where
// there is: sync is the command of that tool which installs it.
func Patch(content []byte, name string, c resolver.Choice, p machine.Platform, there func(index *string) string) (after []byte, sync string, err error) {
	if c.Index != nil {
		url := there(c.Index)
		c.Index = &url
	}
	patch, sync := PatchUV, "uv sync"
	if strings.Contains(string(content), "[tool.poetry.dependencies]") {
		patch, sync = PatchPoetry, "poetry lock && poetry install"
	}
	after, err = patch(content, name, &c, p)
	return after, sync, err
}

// PatchUV returns the pyproject.toml of which `uv sync` makes the choice on machines of a
// platform: torch's family in these versions, from its index alone. What it says for others
// stays, and so does every other byte. uv takes sources for constraints too (uv 0.13). Its
// error says what has to be changed by hand.
func PatchUV(content []byte, name string, c *resolver.Choice, p machine.Platform) ([]byte, error) {
	e, env := &Edit{Text: content, Name: name}, pep508.EnvironmentOf(p.OS, p.Arch, "")
	here := fmt.Sprintf("sys_platform == '%s' and platform_machine == '%s'", env["sys_platform"], env["platform_machine"])
	others := strings.NewReplacer("==", "!=", "and", "or").Replace(here)
	var d document
	failed := []error{unmarshal(content, &d)}
	for _, pkg := range sortedKeys(c.Packages) {
		public, label := version.SplitLocal(c.Packages[pkg])
		var sources []text.Quoted
		if index := "pytorch-" + c.Build; c.Index != nil && label != "" {
			sources = append(sources, text.Form("{ index = %s, marker = %s }", text.JSON(index), text.JSON(here)))
			failed = append(failed, e.Index(index, *c.Index))
		}
		for _, v := range listed(d.Tool.UV.Sources[pkg]) {
			if m := table(v); m != nil && m["marker"] != here {
				if was := str(m["marker"]); !strings.Contains(was, others) {
					m["marker"] = say.With("(", was, ") and ") + "(" + others + ")"
				}
				sources = append(sources, inline(m))
			}
		}
		if e.Table = []string{"tool", "uv", "sources"}; len(sources) > 0 {
			failed = append(failed, e.SetRaw(pkg, text.Form("[%s]", text.Join(sources, ", "))))
		}
		if public != "" {
			failed = append(failed, e.limit(pkg, fmt.Sprintf("%s==%s ; %s", pkg, public, here), here))
		}
	}
	for _, held := range c.Holds {
		q, err := pep508.Parse(held, "")
		failed = append(failed, err, e.limit(q.Name, held+" ; "+here, here))
	}
	return e.Text, errors.Join(failed...)
}

// limit puts a constraint of uv's in place of the one for the same package and platform.
func (e *Edit) limit(pkg, line, here string) error {
	const key = "constraint-dependencies"
	e.Table = []string{"tool", "uv"}
	if slices.Contains(e.Strings(key), line) {
		return nil
	}
	for _, was := range e.Strings(key) {
		if pep508.AsksFor(was, pkg) && strings.HasSuffix(was, here) {
			if err := e.Drop(key, was); err != nil {
				return err
			}
		}
	}
	return e.Add(key, line)
}

// inline is a table of strings and truths as TOML has it in one line.
func inline(m map[string]any) text.Quoted {
	return text.Form("{ %s }", text.Join(text.Each(sortedKeys(m), func(key string) text.Quoted {
		value := say.Either(m[key] == true, text.Const("true"), text.Const("false"))
		if s, ok := m[key].(string); ok {
			value = text.JSON(s)
		}
		return text.Form("%s = %s", text.JSON(key), value)
	}), ", "))
}
