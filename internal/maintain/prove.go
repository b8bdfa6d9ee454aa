package maintain

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"envfix/data"
	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/version"
	"envfix/matrix"
)

// A ProveQuery says which rows are proven.
type ProveQuery struct {
	Torch    version.Specifier // zero: every release from 2.0 on, whose wheels pin what they need
	OS       string
	Arch     string // "" every one
	Stack    bool   // count the GPU code of the libraries that the builds pin, too
	Missing  bool   // only the libraries of all builds that the data has no row for
	Record   string // a directory of data that what was read is written into; "" none
	Today    string
	Progress func(done, total int, what string)
}

// Prove reads wheels of an index and compares them with the data.
func Prove(ctx context.Context, x *Index, m *matrix.Matrix, q ProveQuery) (*Report, error) {
	wheels, faults := matrix.Wheels(data.FS)
	if len(faults) > 0 {
		return nil, fail.New(fail.Failed, faults[0].String())
	}
	torch := q.Torch
	if torch.IsZero() {
		torch, _ = version.ParseSpecifier(">=2.0")
	}
	var proofs []index.Proof
	var notes []string
	if !q.Missing {
		var err error
		proofs, notes, err = x.Prove(ctx, m, index.Query{Torch: torch, OS: q.OS, Arch: q.Arch, Wheels: wheels}, q.Progress)
		if err != nil {
			return nil, unreadable(err)
		}
	}
	if q.Stack || q.Missing {
		more, kept, err := proveStack(ctx, x, m, q, proofs)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, more...)
		if kept != nil {
			notes = append(notes, "what was read is not kept: "+kept.Error())
		}
	}
	if q.Record != "" {
		if err := errors.Join(recordWheels(q.Record, proofs), recordLibraries(q.Record, proofs, q.Today)); err != nil {
			return nil, err
		}
	}
	return newReport(x, proofs, notes), nil
}

// recordWheels puts the wheels that were read into the wheels.yaml of a data
// directory, in place of the rows of the same releases and platforms.
func recordWheels(dir string, proofs []index.Proof) error {
	sets, faults := matrix.Wheels(os.DirFS(dir))
	if len(faults) > 0 && len(sets) > 0 {
		return fail.Wrong(faults[0].String())
	}
	for _, p := range proofs {
		if p.Set == nil {
			continue
		}
		same := func(w matrix.WheelSet) bool {
			return w.Torch == p.Set.Torch && w.OS == p.Set.OS && w.Arch == p.Set.Arch
		}
		if i := slices.IndexFunc(sets, same); i >= 0 {
			sets[i] = *p.Set
		} else {
			sets = append(sets, *p.Set)
		}
	}
	slices.SortStableFunc(sets, func(a, b matrix.WheelSet) int {
		return cmp.Or(version.ComparePublic(b.Torch, a.Torch), cmp.Compare(a.OS, b.OS), cmp.Compare(b.Arch, a.Arch))
	})
	return writeData(dir, matrix.WheelsFile, matrix.EncodeWheels(sets))
}
