//go:build !js

package installers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"envfix/internal/plan"
	"envfix/internal/pyproject"
)

func (p project) leavesAll(*builder, int) string {
	return "`" + p.Sync + "` makes the project's own environment; this one stays as it is"
}

// steps plans the patch of a pixi project: its platform, its system requirements and
// the packages. Nothing is installed; `pixi install` does that.
func (p pixi) steps(b *builder) error {
	name := cmp.Or(b.t.ProjectFile, p.File)
	before := b.t.Project
	if before == nil {
		before = []byte("[workspace]\nname = \"project\"\n")
	}
	var more [][2]string
	if beforeTuring(b.h) && b.choice.CUDA != "" {
		more = [][2]string{{"cudnn", "<9.11"}} // as condaSpecs pins it
	}
	after, err := pyproject.PatchPixi(before, name, b.choice, b.h.Platform, more...)
	if err != nil {
		return err
	}
	b.writeProject("pixi", name,
		fmt.Sprintf("pixi takes a CPU build where [system-requirements] names no CUDA; `pixi install` installs torch %s then", b.choice.Torch), after)
	return nil
}

// writeProject adds the step that writes a project's file, where it is not so already.
func (b *builder) writeProject(id, name, why string, after []byte) {
	if b.t.Project != nil && string(after) == string(b.t.Project) {
		return
	}
	w := &plan.Write{Path: name, Mode: 0o644, Content: string(after)}
	title := "write a " + name
	if b.t.Project != nil {
		sum := sha256.Sum256(b.t.Project)
		w.Before = hex.EncodeToString(sum[:])
		title = "patch " + name
	}
	b.add(plan.Step{ID: id, Title: title, Why: why, Write: w})
}
