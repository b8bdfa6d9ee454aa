package maintain

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// HarvestDists reads from an index what the releases of packages require and adds them to
// a directory's dists.yaml: every release of the packages that it names, and the new ones
// of those that the file has. What was read before of the others is kept.
func HarvestDists(names []string) func(ctx context.Context, x *Index, dir, today string, p Progress) (int, []string, error) {
	return func(ctx context.Context, x *Index, dir, today string, p Progress) (int, []string, error) {
		return harvestDists(ctx, x, dir, today, names, p)
	}
}

func harvestDists(ctx context.Context, x *Index, dir, today string, named []string, progress Progress) (rows int, missing []string, err error) {
	m, err := matrix.Load(os.DirFS(dir))
	if err != nil {
		return 0, nil, &fail.Error{
			Code:  fail.Usage,
			Text:  text.Printable(dir) + " holds no matrix that is in order",
			Hints: []string{"`envfix matrix check " + text.Printable(dir) + "`"},
		}
	}
	var names []string
	for _, n := range named {
		names = append(names, machine.NormalName(n))
	}
	var all []matrix.Dist
	known := map[string]bool{}
	for _, d := range m.Dists {
		if slices.Contains(names, d.Package) {
			continue // read anew
		}
		for _, group := range m.DistsOf(d.Package) {
			if group.Unread {
				continue // another try
			}
			all = append(all, group)
			for _, v := range group.Versions {
				known[d.Package+" "+v] = true
			}
		}
	}
	for _, d := range m.Dists {
		names = append(names, d.Package)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	keep, files := decides(m, names), Packages(m)
	for i, name := range names {
		found, err := x.DistsOf(ctx, name, m.Releases[len(m.Releases)-1].Date, func(v string) bool { return known[name+" "+v] }, keep)
		if errors.Is(err, index.ErrNotFound) {
			missing = append(missing, name)
		} else if err != nil {
			return 0, nil, unreadable(err)
		}
		for _, d := range found {
			if slices.Contains(files, name) {
				d.Files = nil // files.yaml has them
			}
			all = append(all, d)
		}
		progress(i+1, len(names), name)
	}
	return len(all), missing, writeData(dir, matrix.DistsFile, matrix.EncodeDists(all, today))
}

// decides returns which requirements are kept, and what of them: those on torch, on what
// the data decides by, and on packages of the table itself, so that chains can be
// followed. A limit from below says something of torch, of its companions, of frameworks
// and of what is known to need a torch; of others an installer takes the newest anyway.
func decides(m *matrix.Matrix, names []string) func(pep508.Requirement) (pep508.Requirement, bool) {
	floors := slices.Concat(companions, []string{"torch"})
	for _, n := range m.Needs {
		if n.Of == "torch" {
			floors = append(floors, n.Package)
		}
	}
	for _, f := range m.Frameworks {
		floors = append(floors, f.Package, f.Files)
	}
	chains := slices.DeleteFunc(slices.Concat(names, Packages(m)), func(name string) bool { return name == "numpy" })
	limited := slices.Clone(chains)
	for _, n := range m.Needs {
		limited = append(limited, n.Of)
	}
	return func(r pep508.Requirement) (pep508.Requirement, bool) {
		switch {
		case slices.Contains(floors, r.Name):
			return r, true
		case ends(r.Spec):
			return r, slices.Contains(limited, r.Name)
		}
		r.Spec = version.Specifier{}
		return r, slices.Contains(chains, r.Name)
	}
}

// ends reports whether a specifier has a limit from above.
func ends(s version.Specifier) bool {
	for clause := range strings.SplitSeq(s.String(), ",") {
		if clause = strings.TrimSpace(clause); strings.HasPrefix(clause, "<") || strings.HasPrefix(clause, "=") || strings.HasPrefix(clause, "~") {
			return true
		}
	}
	return false
}
