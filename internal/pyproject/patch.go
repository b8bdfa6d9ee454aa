package pyproject

import (
	"fmt"
	"strings"

	"envfix/internal/machine"
	"envfix/resolver"
)

// Patch returns a pyproject.toml that makes uv take torch and its companions
// from the chosen index: an explicit [[tool.uv.index]] and [tool.uv.sources].
// Everything else stays as it was written. A choice from the default index only
// removes sources that lead elsewhere. Patching twice changes nothing more. Its
// error says what has to be changed by hand.
func Patch(text []byte, c *resolver.Choice) ([]byte, error) {
	if _, err := ReadProject(text, "pyproject.toml"); err != nil {
		return nil, err
	}
	if c == nil || c.Channel != "pip" {
		return nil, fmt.Errorf("the choice does not come from a Python index, so a uv project cannot take it")
	}
	name := "pytorch-" + c.Build
	e := editor{lines: strings.Split(strings.TrimRight(string(text), "\n"), "\n")}
	for _, pkg := range []string{"torch", "torchvision", "torchaudio"} {
		_, chosen := c.Packages[pkg]
		if err := e.source(pkg, name, chosen && c.Index != nil); err != nil {
			return nil, err
		}
	}
	if c.Index != nil {
		if err := e.index(name, *c.Index); err != nil {
			return nil, err
		}
	}
	out := []byte(strings.TrimLeft(strings.Join(e.lines, "\n"), "\n") + "\n")
	return out, check(out, name, c)
}

// editor changes a file by lines.
type editor struct{ lines []string }

const sourcesTable = "[tool.uv.sources]"

// source sets or removes one entry of [tool.uv.sources].
func (e *editor) source(pkg, index string, set bool) error {
	entry := fmt.Sprintf("%s = { index = %q }", pkg, index)
	from, to, ok := e.table(sourcesTable)
	if !ok {
		for _, l := range e.lines {
			t := strings.TrimSpace(l)
			if strings.HasPrefix(t, "[tool.uv.sources.") || strings.HasPrefix(t, "sources") && strings.Contains(t, "{") ||
				strings.HasPrefix(t, "tool.uv.sources") ||
				strings.HasPrefix(t, "uv.sources") {
				return fmt.Errorf("pyproject.toml writes its sources as %q; set %s there by hand", t, entry)
			}
		}
		if set {
			e.lines = append(e.lines, "", sourcesTable, entry)
		}
		return nil
	}
	for i := from + 1; i < to; i++ {
		key, _, found := strings.Cut(e.lines[i], "=")
		if !found || machine.NormalName(strings.Trim(strings.TrimSpace(key), `"'`)) != pkg {
			continue
		}
		end := entryEnd(e.lines, i, to)
		var with []string
		if set {
			with = []string{entry}
		}
		e.splice(i, end, with)
		return nil
	}
	if set {
		at := from + 1
		for at < to && strings.TrimSpace(e.lines[at]) != "" {
			at++
		}
		e.splice(at, at, []string{entry})
	}
	return nil
}

// index sets one [[tool.uv.index]].
func (e *editor) index(name, url string) error {
	block := []string{"[[tool.uv.index]]", fmt.Sprintf("name = %q", name), fmt.Sprintf("url = %q", url), "explicit = true"}
	for i := 0; i < len(e.lines); i++ {
		if header(e.lines[i]) != "[[tool.uv.index]]" {
			continue
		}
		end := i + 1
		mine := false
		for end < len(e.lines) && header(e.lines[end]) == "" {
			key, value, _ := strings.Cut(e.lines[end], "=")
			if strings.TrimSpace(key) == "name" && strings.Trim(strings.TrimSpace(value), `"'`) == name {
				mine = true
			}
			end++
		}
		if mine {
			for end > i+1 && strings.TrimSpace(e.lines[end-1]) == "" {
				end--
			}
			e.splice(i, end, block)
			return nil
		}
	}
	for _, l := range e.lines {
		if t := strings.TrimSpace(l); strings.HasPrefix(t, "index") && strings.Contains(t, "=") && strings.Contains(t, "[") {
			return fmt.Errorf("pyproject.toml writes its indexes as %q; add %s there by hand", t, strings.Join(block[1:], ", "))
		}
	}
	e.lines = append(append(e.lines, ""), block...)
	return nil
}

func (e *editor) splice(from, to int, with []string) {
	e.lines = append(e.lines[:from:from], append(append([]string{}, with...), e.lines[to:]...)...)
}

// table returns the lines of a table: its header's and the one after its last.
func (e *editor) table(name string) (from, to int, ok bool) {
	for i, l := range e.lines {
		if header(l) != name {
			continue
		}
		to = i + 1
		for to < len(e.lines) && header(e.lines[to]) == "" {
			to++
		}
		return i, to, true
	}
	return 0, 0, false
}

// header returns a table header without comment and blanks, "" for other lines.
// A line of a list of lists does not begin with a bracket in the forms that are
// edited here; check finds out if one did.
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

// entryEnd is the line after an entry, whose value may run over several lines.
func entryEnd(lines []string, from, to int) int {
	depth := 0
	for i := from; i < to; i++ {
		depth += strings.Count(lines[i], "[") + strings.Count(lines[i], "{") - strings.Count(lines[i], "]") - strings.Count(lines[i], "}")
		if depth <= 0 {
			return i + 1
		}
	}
	return to
}

// check reads the result again: it must be TOML, and say what was meant.
func check(text []byte, name string, c *resolver.Choice) error {
	var any map[string]any
	if err := unmarshal(text, &any); err != nil {
		return fmt.Errorf("pyproject.toml is written in a form that is not edited; set the source of torch by hand")
	}
	p, err := ReadProject(text, "pyproject.toml")
	if err != nil {
		return err
	}
	if c.Index == nil {
		if p.sourced("torch") {
			return fmt.Errorf("pyproject.toml takes torch from somewhere in particular; remove that by hand")
		}
		return nil
	}
	right := 0
	for _, s := range p.Sources {
		if s.Package == "torch" && s.Index == name {
			right++
		}
	}
	for _, i := range p.Indexes {
		if i.Name == name && i.URL == *c.Index && i.Explicit {
			right++
		}
	}
	if right != 2 {
		return fmt.Errorf("pyproject.toml is written in a form that is not edited; set the source of torch by hand")
	}
	return nil
}
