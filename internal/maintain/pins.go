package maintain

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// HarvestPins reads from an index what the wheels of packages beside torch ask of torch
// and of CUDA, of every release that a directory's data has no row for, and adds them to
// its pins.yaml. What was read before is kept: a wheel does not change. missing names the
// packages that the index does not have.
func HarvestPins(ctx context.Context, x *Index, dir, today string, progress Progress) (rows int, missing []string, err error) {
	m, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		return 0, nil, fail.Wrong(text.Printable(dir)+" holds no matrix that is in order",
			"`envfix matrix check "+text.Printable(dir)+"`")
	}
	var all []matrix.Extension
	for _, e := range m.Extensions {
		if strings.HasPrefix(e.Source, pinsPlace) {
			all = append(all, e)
		}
	}
	names := pinned(m)
	for i, name := range names {
		found, err := x.PinsOf(ctx, name, m.Releases[len(m.Releases)-1].Date, knownRows(m, name))
		if errors.Is(err, index.ErrNotFound) {
			missing = append(missing, name)
		} else if err != nil {
			return 0, nil, unreadable(err)
		}
		for _, e := range found {
			all = append(all, likeIt(m, e))
		}
		progress(i+1, len(names), name)
	}
	return len(all), missing, writeData(dir, matrix.PinsFile, matrix.EncodePins(all, today))
}

// pinsPlace begins the source of a row that HarvestPins wrote.
const pinsPlace = "data/" + matrix.PinsFile + ":"

// pinned are the packages some release of which is for one torch or some builds of it.
func pinned(m *matrix.Matrix) []string {
	var names []string
	for _, e := range m.Extensions {
		if !e.Sdist && (!e.Torch.IsZero() || len(e.TorchLabels) > 0) {
			names = append(names, e.Package)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// knownRows reports which releases of a package have a row for a platform.
func knownRows(m *matrix.Matrix, name string) func(v version.Python, os, arch string) bool {
	return func(v version.Python, os, arch string) bool {
		return slices.ContainsFunc(m.Extensions, func(e matrix.Extension) bool {
			return e.Package == name && !e.Sdist && e.Version.Compare(v) == 0 && (e.OS == "" || os == "" || e.OS == os && e.Arch == arch)
		})
	}
}

// likeIt adds to a release what the rows by hand say of those around it and its metadata
// does not: where a wrong torch shows, and the oldest GPU, that of the same release on
// another system or what the next older and the next newer one agree in. Of what it
// requires it keeps the packages that such rows say hold the GPU code.
func likeIt(m *matrix.Matrix, e matrix.Extension) matrix.Extension {
	var older, newer *matrix.Extension
	var holders []string
	for i := range m.Extensions {
		o := &m.Extensions[i]
		if o.Package != e.Package || o.Sdist || strings.HasPrefix(o.Source, pinsPlace) {
			continue
		}
		holders = append(holders, o.Needs...)
		if e.Fails == "" {
			e.Fails = o.Fails
		}
		if c := o.Version.Compare(e.Version); c <= 0 && (older == nil || o.Version.Compare(older.Version) > 0) {
			older = o
		}
		if c := o.Version.Compare(e.Version); c >= 0 && (newer == nil || o.Version.Compare(newer.Version) < 0) {
			newer = o
		}
	}
	if older != nil && newer != nil && older.MinSM == newer.MinSM {
		e.MinSM = newer.MinSM
	}
	e.Needs = slices.DeleteFunc(e.Needs, func(name string) bool { return !slices.Contains(holders, name) })
	return e
}
