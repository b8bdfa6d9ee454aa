package maintain

import (
	"context"
	"errors"
	"os"
	"slices"

	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/matrix"
)

// A Progress is told what was done, of how much.
type Progress func(done, total int, what string)

// companions are the packages that a release of torch names itself.
var companions = []string{"torchvision", "torchaudio", "torchcodec", "torchtext", "triton"}

// Packages are those of which the data keeps the files: what is decided by them.
func Packages(m *matrix.Matrix) []string {
	names := slices.Clone(companions)
	names = append(names, text.Each(m.Extensions, func(e matrix.Extension) string { return e.Package })...)
	for _, n := range m.Needs {
		if n.Fails == matrix.FailsInstall {
			names = append(names, n.Of)
		}
	}
	for _, f := range m.Frameworks {
		names = append(names, f.Package, f.Files)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// HarvestFiles reads from an index which files it has of every package that a
// directory's data decides by, from the oldest torch of the data on, and writes
// them as its files.yaml. missing names the packages that the index does not have.
func HarvestFiles(ctx context.Context, x *Index, dir, today string, progress Progress) (rows int, missing []string, err error) {
	m, err := loadDir(dir)
	if err != nil {
		return 0, nil, err
	}
	files, missing, err := filesOf(ctx, x.Client, Packages(m), m, progress)
	if err != nil {
		return 0, nil, unreadable(err)
	}
	return len(files), missing, writeData(dir, matrix.FilesFile, matrix.EncodeFiles(files, today))
}

// loadDir loads the data of a folder that is written into.
func loadDir(dir string) (*matrix.Matrix, error) {
	m, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		return nil, fail.Wrong(text.Printable(dir)+" holds no matrix that is in order", "`envfix matrix check "+text.Printable(dir)+"`")
	}
	return m, nil
}

// writeData writes a file of the data's folder.
func writeData(dir, name string, b []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail.Wrong(text.Printable(err.Error()))
	}
	defer root.Close()
	if err := root.WriteFile(name, b, 0o644); err != nil {
		return fail.New(fail.Failed, text.Printable(err.Error()))
	}
	return nil
}

// since is the day from which a package's files count: that of the oldest torch of the data;
// its whole year of what needs no torch.
func since(m *matrix.Matrix, name string) string {
	day := m.Releases[len(m.Releases)-1].Date
	return say.Either(slices.ContainsFunc(m.Frameworks, func(f matrix.Framework) bool { return f.Package == name }), day[:4], day)
}

func filesOf(ctx context.Context, client *index.Client, names []string, m *matrix.Matrix, progress Progress) (
	rows []matrix.Files, missing []string, err error) {
	type files struct {
		name string
		rows []matrix.Files
		lost bool
	}
	all, err := index.Each(ctx, len(names), func(ctx context.Context, i int) (files, error) {
		rows, err := client.FilesOf(ctx, names[i], since(m, names[i]))
		if errors.Is(err, index.ErrNotFound) {
			return files{name: names[i], lost: true}, nil
		}
		return files{name: names[i], rows: rows}, err
	}, func(done int, f files) { progress(done, len(names), f.name) })
	for _, f := range all {
		rows = append(rows, f.rows...)
		if f.lost {
			missing = append(missing, f.name)
		}
	}
	return rows, missing, err
}
