//go:build !js

package installers

import (
	"errors"

	"envfix/internal/pyproject"
)

// steps plans the patch of a project of Poetry; `poetry install` installs.
func (p poetry) steps(b *builder) error {
	if b.t.Project == nil {
		return errors.New("poetry works on a project, and none lies beside the environment: `poetry init` makes one")
	}
	after, err := pyproject.PatchPoetry(b.t.Project, p.File, b.choice, b.h.Platform)
	if err == nil {
		b.writeProject(p.Name, p.File, "Poetry takes what its default index has where no source is named; `"+p.Sync+"` installs torch "+b.choice.Torch+" then", after)
	}
	return err
}
