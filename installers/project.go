package installers

import "errors"

// project plans the patch of a uv project's pyproject.toml.
func (b *builder) project() error {
	return errors.New("`--manager uv-project` is not there yet")
}
