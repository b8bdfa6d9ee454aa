package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/resolver"
)

// projectPython is what the project in the team's folder demands of Python: its
// .python-version, else requires-python where no wish names its pyproject.toml; ""
// nothing.
func (t *Team) projectPython(w *wishes) (string, error) {
	if b, err := ReadFile(t.path(".python-version")); err == nil {
		if v := pyproject.PythonVersion(b); v != "" {
			return v, nil
		}
	}
	const file = "pyproject.toml"
	if slices.ContainsFunc(w.Files, func(f string) bool { return strings.HasPrefix(f, file) }) {
		return "", nil // it is read as a file
	}
	if _, err := os.Stat(t.path(file)); err != nil {
		return "", nil
	}
	p, err := t.project(w, file)
	if err != nil {
		return "", err
	}
	return p.Python, nil
}

// wantPython holds a target's Python to what the project demands, and returns that as
// one specifier.
func wantPython(facts map[string]string, in lock.Input) (string, error) {
	demands := map[string]string{} // specifier → who says so
	for _, s := range in.Sources {
		demands[s.Python] = s.Path
	}
	if _, err := version.ParsePython(strings.TrimSuffix(in.Python, "t")); err != nil {
		demands[in.Python] = "pyproject.toml"
	} else if facts["python"] == "" {
		facts["python"] = in.Python
	}
	var all []string
	for _, spec := range slices.Sorted(maps.Keys(demands)) {
		if spec == "" {
			continue
		}
		want, err := version.ParseSpecifier(spec)
		if err != nil {
			return "", fmt.Errorf("%s: requires-python %q is not a specifier", demands[spec], clean(spec))
		}
		if !want.AdmitsMinor(facts["python"]) {
			return "", fmt.Errorf("python=%s, and %s requires %s", facts["python"], demands[spec], spec)
		}
		all = append(all, spec)
	}
	return strings.Join(all, ","), nil
}

// A basis is what a choice of builds begins with beside the wishes.
type basis struct {
	hold   *lock.Lock // its profiles keep their torch and build
	keep   *lock.Lock // targets that name no Python keep that of its profiles
	python string     // of targets that name none, in place of all that

	anyPython bool // of targets that name none: also one that is not here
}

// python is the Python of a target that names none: "" the resolver chooses.
func (b basis) pythonOf(name, demand string) string {
	if b.python != "" || b.keep == nil {
		return b.python
	}
	p, err := b.keep.Profile(name)
	if err != nil {
		return ""
	}
	want, err := version.ParseSpecifier(demand)
	return say.If(err == nil && want.AdmitsMinor(p.Python), p.Python)
}

// olderPython makes the lock with another Python, the newest that all wishes have, where a
// package has no file for the Python of targets that name none. It returns the first
// error where none is found.
func (t *Team) olderPython(ctx context.Context, m *making, first error) error {
	var f *fail.Error
	if !errors.As(first, &f) || !ofPython(f) {
		return first
	}
	elsewhere := "another Python than is here, for the targets that name none: " + said(f)
	if t.Pythons != nil && m.basis.keep == nil {
		m.basis.anyPython = true
		if err := m.make(ctx, t); err == nil {
			m.notes = append(m.notes, elsewhere)
			return nil
		}
	}
	newest := newestDefaulted(m.drafts)
	var major, minor int
	if _, err := fmt.Sscanf(newest, "%d.%d", &major, &minor); err != nil {
		return first // every target names its Python
	}
	usual := minor
	for minor += resolver.Behind; minor > 0; minor-- {
		if minor == usual {
			continue
		}
		m.basis.python = fmt.Sprintf("%d.%d", major, minor)
		var again *fail.Error
		switch err := m.make(ctx, t); {
		case err == nil:
			m.notes = append(m.notes, say.Either(m.basis.anyPython, elsewhere, fmt.Sprintf("Python %s for the targets that name none: with %s, %s", m.basis.python, newest, said(f))))
			return nil
		case errors.As(err, &again) && ofPython(again):
		default:
			return first
		}
	}
	return first
}

// newestDefaulted is the newest Python of the targets that name none; "" all name theirs.
func newestDefaulted(drafts []draft) (newest string) {
	for _, d := range drafts {
		if d.defaulted && (newest == "" || version.ComparePublic(d.profile.Python, newest) > 0) {
			newest = d.profile.Python
		}
	}
	return newest
}

// defaultedPythons says which Python was taken for the targets that name none.
func (t *Team) defaultedPythons(drafts []draft) []string {
	here := map[string]bool{}
	if t.Pythons != nil {
		for _, p := range t.Pythons() {
			here[p.Minor()] = true
		}
	}
	var out []string
	for _, is := range []bool{true, false} {
		var names, pythons []string
		for _, d := range drafts {
			if d.defaulted && here[d.profile.Python] == is {
				names, pythons = append(names, d.profile.Name), append(pythons, d.profile.Python)
			}
		}
		if len(names) == 0 {
			continue
		}
		why := say.Either(!is, "the newest that fits", "which is here")
		slices.Sort(pythons)
		out = append(out, fmt.Sprintf("Python %s, %s, for %s: where a machine has none, uv brings it; `--python 3.12` (or python= of a target) takes another",
			strings.Join(slices.Compact(pythons), ", "), why, strings.Join(names, ", ")))
	}
	return out
}

// ofPython reports whether another Python may be the way out.
func ofPython(f *fail.Error) bool {
	// uv warns of the Python that it would build with, whatever the fault is.
	said := strings.Join(slices.DeleteFunc(slices.Clone(f.Details), func(l string) bool { return strings.HasPrefix(l, "warning: ") }), "\n")
	return f.Code == fail.Integrity || strings.Contains(said, "Python") || noWheels().MatchString(said)
}

// said is the sentence in which uv says what has no file.
func said(f *fail.Error) string {
	all := strings.Join(strings.Fields(strings.Join(f.Details, " ")), " ")
	if _, because, ok := strings.Cut(all, "Because "); ok {
		all, _, _ = strings.Cut(because, " and ")
	}
	return clean(cmp.Or(all, f.Text))
}
