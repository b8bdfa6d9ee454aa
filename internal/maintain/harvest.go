package maintain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/pep508"
	"envfix/internal/say"
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
	from := say.Either(x.From == fromFlag, x.Address(), "the default index")
	return draft.YAML(from, today), draft.Notes, nil
}

// HarvestPackage writes the rows of those releases of a package beside torch that the data
// knows by no wheel, from the oldest torch of the data on.
func HarvestPackage(ctx context.Context, x *Index, m *matrix.Matrix, r pep508.Requirement, today string, progress Progress) (yaml text.Quoted, err error) {
	name := r.Name
	own := "data/read_" + name
	known := func(v version.Python, os, arch string) bool {
		return !r.Spec.Admits(v) || slices.ContainsFunc(m.Extensions, func(e matrix.Extension) bool {
			return e.Package == name && e.Version.Compare(v) == 0 && e.OS == os && e.Arch == arch && e.Proof == matrix.ByWheel && !strings.HasPrefix(e.Source, own)
		})
	}
	codes, err := x.Codes(ctx, name, since(m, name), known, progress)
	if err != nil {
		return yaml, unreadable(err)
	}
	return index.CodeRows(m, r, codes, today), nil
}

// ProvePackage reads the wheels of a package beside torch again, and compares them with
// its rows.
func ProvePackage(ctx context.Context, x *Index, m *matrix.Matrix, r pep508.Requirement, progress Progress) (*Report, error) {
	if !slices.ContainsFunc(m.Extensions, func(e matrix.Extension) bool { return e.Package == r.Name && e.Proof == matrix.ByWheel }) {
		return nil, fail.Wrong("no row of the data was read from a wheel of "+text.Printable(r.Name),
			"`envfix matrix harvest "+text.Printable(r.Name)+"` drafts rows")
	}
	proofs, err := x.ProveCode(ctx, m, r.Name, r.Spec, progress)
	if err != nil {
		return nil, unreadable(err)
	}
	return newReport(x, proofs, nil), nil
}
