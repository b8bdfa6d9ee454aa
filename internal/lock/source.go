package lock

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/text"
)

// A VCS is a commit of a repository.
type VCS struct {
	Type         string `toml:"type"` // git
	URL          string `toml:"url"`
	Revision     string `toml:"requested-revision,omitempty"`
	CommitID     string `toml:"commit-id"`
	Subdirectory string `toml:"subdirectory,omitempty"`
}

// A Directory is a project's folder.
type Directory struct {
	Path     string `toml:"path"` // relative to the file
	Editable bool   `toml:"editable,omitempty"`
}

// file is a file with the name that its place gives it, where it has none of its own.
func (w Wheel) file() Wheel {
	w.Name = cmp.Or(w.Name, lastElement(w.address().Path+w.Path))
	return w
}

// Built reports whether installing the package runs its own code.
func (k Package) Built() bool {
	return k.VCS != nil || k.Directory != nil || k.Sdist != nil || k.Archive != nil && !strings.HasSuffix(k.Archive.file().Name, ".whl")
}

// Files returns the files of a package; a repository and a directory have none.
func (k Package) Files() []Wheel {
	switch {
	case k.Sdist != nil:
		return []Wheel{*k.Sdist}
	case k.Archive != nil:
		return []Wheel{k.Archive.file()}
	}
	return k.Wheels
}

// Complete takes over the address, the size and the digest of a package's i-th file.
func (k *Package) Complete(i int, w Wheel) {
	switch {
	case k.Sdist != nil:
		*k.Sdist = w
	case k.Archive != nil:
		w.Name = ""
		*k.Archive = w
	default:
		k.Wheels[i] = w
	}
}

// SourceLine is how a requirements file writes a package that has no file: a
// repository at its commit, or a directory below home; "" for one that has.
func (k Package) SourceLine(home string) string {
	switch {
	case k.VCS != nil:
		return fmt.Sprintf("%s @ git+%s@%s", k.Name, k.VCS.URL, k.VCS.CommitID) + say.With("#subdirectory=", k.VCS.Subdirectory, "")
	case k.Directory != nil:
		where := strings.TrimSuffix(home, "/") + "/" + strings.TrimPrefix(k.Directory.Path, "./")
		return say.Either(k.Directory.Editable, "-e "+where, where)
	}
	return ""
}

// Wheels returns the packages that are installed without running any code of theirs.
func (p *Packages) Wheels() *Packages {
	return &Packages{Packages: slices.DeleteFunc(slices.Clone(p.Packages), Package.Built)}
}

// Sources returns the packages whose own code runs where they are installed.
func (p *Packages) Sources() []Package {
	return slices.DeleteFunc(slices.Clone(p.Packages), func(k Package) bool { return !k.Built() })
}

var (
	commitID  = lazy.Regexp(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	sdistName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_.+!-]*\.(tar\.gz|zip|tar\.bz2|tgz)$`)
)

// forms counts in how many of the forms of PEP 751 a package stands.
func (k Package) forms() int {
	n := 0
	for _, is := range []bool{len(k.Wheels) > 0, k.Sdist != nil, k.Archive != nil, k.VCS != nil, k.Directory != nil} {
		if is {
			n++
		}
	}
	return n
}

// validateSource checks the forms that are no wheels.
func (k Package) validateSource() error {
	switch {
	case k.Sdist != nil:
		return k.Sdist.validateNamed(sdistName().MatchString(k.Sdist.Name) && k.Sdist.Subdirectory == "", "a source distribution")
	case k.Archive != nil:
		return k.Archive.file().validateNamed(insideOrNone(k.Archive.Subdirectory) && k.Archive.Name == "", "an archive")
	case k.VCS != nil:
		return k.VCS.validate()
	case k.Directory != nil:
		if p := k.Directory.Path; p == "" || strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\\:\r\n#;") {
			return fmt.Errorf("directory %q: want a path relative to the lock", text.Clip(p, 120))
		}
	}
	return nil
}

func insideOrNone(p string) bool { return p == "" || insidePath(p) }

func (v *VCS) validate() error {
	u, err := url.Parse(v.URL)
	switch {
	case v.Type != "git":
		return fmt.Errorf("vcs %q: only git", text.Clip(v.Type, 120))
	case err != nil || !slices.Contains([]string{"https", "ssh", "file"}, u.Scheme) || strings.ContainsAny(v.URL, " \t\r\n@#") && u.Scheme != "ssh":
		return fmt.Errorf("repository %q: want https, ssh or file without a name", text.Clip(v.URL, 120))
	case hasPassword(u):
		return errors.New("its repository's address holds a password")
	case !commitID().MatchString(v.CommitID):
		return errors.New("it has no commit")
	case !insideOrNone(v.Subdirectory):
		return fmt.Errorf("subdirectory %q leaves the repository", text.Clip(v.Subdirectory, 120))
	}
	return nil
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has
}

// validateNamed checks a file that is no wheel.
func (w Wheel) validateNamed(named bool, what string) error {
	err := w.validateFile()
	if !named || w.Name == "" {
		err = errors.New("not the name of " + what)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text.Clip(w.Name, 120), err)
	}
	return nil
}
