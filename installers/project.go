//go:build !js

package installers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/pyproject"
)

func (p uvProject) leavesAll(*builder, int) string {
	return "`" + p.Sync + "` makes it what the project's lock says"
}

// steps plans the patch of a uv project: an explicit index and sources for
// torch and its companions. Nothing is installed; `uv sync` does that.
func (uvProject) steps(b *builder) error {
	c := *b.choice
	if c.Index != nil {
		url := b.src.url(c.Index)
		c.Index = &url
	}
	before := b.t.Project
	if before == nil {
		before = b.newProject()
	}
	after, err := pyproject.Patch(before, &c)
	if err != nil {
		return err
	}
	if b.t.Project != nil && len(b.choice.Holds) > 0 {
		name := "what was asked for"
		if b.choice.Torch != "" {
			name = "torch " + b.choice.Torch
		}
		b.warn("%s needs what no metadata says: add %q to the project's dependencies", name, strings.Join(b.choice.Holds, ", "))
	}
	if b.t.Project != nil && string(after) == string(before) {
		return nil
	}
	w := &plan.Write{Path: "pyproject.toml", Mode: 0o644, Content: string(after)}
	title := "write a pyproject.toml"
	if b.t.Project != nil {
		sum := sha256.Sum256(before)
		w.Before = hex.EncodeToString(sum[:])
		title = "patch pyproject.toml"
	}
	b.add(plan.Step{ID: "pyproject", Title: title, Why: "uv takes torch from " + b.fromWhere() + "; `uv sync` installs it then", Write: w})
	return nil
}

func (b *builder) fromWhere() string {
	if b.choice.Index == nil {
		return "the default index"
	}
	return b.src.url(b.choice.Index)
}

// newProject is a project for a directory that has none.
func (b *builder) newProject() []byte {
	var s strings.Builder
	fmt.Fprintf(&s, "[project]\nname = \"project\"\nversion = \"0.1.0\"\nrequires-python = \">=%s\"\ndependencies = [\n", strings.TrimSuffix(b.choice.Python, "t"))
	first, _, rest := b.requirements()
	for _, q := range append(first, rest...) {
		q, _, _ = strings.Cut(q, "+") // the index tells the build
		fmt.Fprintf(&s, "    %q,\n", q)
	}
	s.WriteString("]\n")
	return []byte(s.String())
}
