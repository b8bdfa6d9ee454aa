//go:build !js

package installers

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"envfix/internal/plan"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/text"
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
	if b.t.WithPip {
		more = append(more, [2]string{"pip", "*"})
	}
	after, err := pyproject.PatchPixi(before, name, b.choice, b.h.Platform, more...)
	if err != nil {
		return err
	}
	cpu := say.If(!bytes.Contains(before, []byte("system-requirements]")), "pixi takes a CPU build where [system-requirements] names no CUDA; ")
	b.writeProject("pixi", name, cpu+"`pixi install` installs torch "+b.choice.Torch+" from conda-forge then", after)
	return nil
}

// writeProject adds the step that writes a project's file, where it is not so already. One that
// is there is the project's own, and changed where that is asked for.
func (b *builder) writeProject(id, name, why string, after []byte) {
	s := plan.Step{ID: id, Title: "write a " + name, Why: why}
	switch w := (&plan.Write{Path: name, Mode: 0o644, Content: string(after)}); {
	case b.t.Project == nil:
		s.Write = w
	case string(after) == string(b.t.Project):
		return
	case b.t.Edit:
		sum := sha256.Sum256(b.t.Project)
		w.Before = hex.EncodeToString(sum[:])
		s.Title, s.Write = "patch "+name, w
	default:
		s.Title, s.Manual = "patch "+name, &plan.Manual{Text: "`--edit` writes that into " + name + ", which nothing changes unasked"}
	}
	b.add(s)
}

// edit adds the step that has the project's own tool make the choice as well, where that is
// asked for.
func edit(b *builder) {
	if !b.t.Edit || b.t.Project == nil || b.choice == nil {
		return
	}
	after, sync, err := pyproject.Patch(b.t.Project, b.t.ProjectFile, *b.choice, b.h.Platform, b.src.url)
	if err != nil {
		b.warn("%s is not written: %s", b.t.ProjectFile, text.Escape(err.Error()))
		return
	}
	b.writeProject("edit", b.t.ProjectFile, "`"+sync+"` installs torch "+b.choice.Torch+" then, too", after)
}
