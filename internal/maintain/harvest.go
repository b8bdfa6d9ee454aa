package maintain

import (
	"context"
	"errors"

	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// Harvest drafts the data of one release from its wheels: the YAML of data/torch, and
// what a person has to look at.
func Harvest(
	ctx context.Context,
	x *Index,
	m *matrix.Matrix,
	torch version.Python,
	today string,
	progress func(done, total int, what string),
) (yaml text.Quoted, notes []string, err error) {
	draft, err := x.Harvest(ctx, m, torch, progress)
	if errors.Is(err, index.ErrNotFound) {
		return yaml, nil, fail.New(fail.NoSolution, "the index has no wheel of torch "+torch.String())
	}
	if err != nil {
		return yaml, nil, unreadable(err)
	}
	from := "the default index"
	if x.From == fromFlag {
		from = x.Address()
	}
	return draft.YAML(from, today), draft.Notes, nil
}
