//go:build !js

package installers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"envfix/internal/plan"
	"envfix/internal/pyproject"
)

// pixi plans the patch of a pixi project: its platform, its system requirements and
// the packages. Nothing is installed; `pixi install` does that.
func (b *builder) pixi() error {
	name := b.t.ProjectFile
	if name == "" {
		name = "pixi.toml"
	}
	before := b.t.Project
	if before == nil {
		before = []byte("[workspace]\nname = \"project\"\n")
	}
	var more [][2]string
	if b.beforeTuring() && b.choice.CUDA != "" {
		more = [][2]string{{"cudnn", "<9.11"}} // as condaSpecs pins it
	}
	after, err := pyproject.PatchPixi(before, name, b.choice, b.h.Platform, more...)
	if err != nil {
		return err
	}
	if b.t.Project != nil && string(after) == string(before) {
		return nil
	}
	w := &plan.Write{Path: name, Mode: 0o644, Content: string(after)}
	title := "write a " + name
	if b.t.Project != nil {
		sum := sha256.Sum256(before)
		w.Before = hex.EncodeToString(sum[:])
		title = "patch " + name
	}
	b.add(plan.Step{ID: "pixi", Title: title, Why: fmt.Sprintf("pixi takes a CPU build where [system-requirements] names no CUDA; `pixi install` installs torch %s then", b.choice.Torch), Write: w})
	return nil
}
