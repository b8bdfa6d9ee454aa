package lock

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Packages is the content of a pylock file as envfix writes one: PEP 751,
// lock-version 1.0.
type Packages struct {
	LockVersion    string    `toml:"lock-version"`
	Environments   []string  `toml:"environments"` // markers; one must hold
	RequiresPython string    `toml:"requires-python"`
	Extras         []string  `toml:"extras,omitempty"`            // that can be chosen, sorted
	Groups         []string  `toml:"dependency-groups,omitempty"` // that can be chosen, sorted
	DefaultGroups  []string  `toml:"default-groups,omitempty"`    // PEP 751 has it; envfix writes none
	CreatedBy      string    `toml:"created-by"`
	Packages       []Package `toml:"packages"` // sorted by name

	left []string // names of packages whose groups were not chosen: see Choose
}

// A Package is one locked distribution.
type Package struct {
	Name           string `toml:"name"`              // normalised (PEP 503)
	Version        string `toml:"version,omitempty"` // "" only of a directory
	Marker         string `toml:"marker,omitempty"`  // the groups that it is of; "" it is always installed
	RequiresPython string `toml:"requires-python,omitempty"`
	Index          string `toml:"index,omitempty"` // "": the installer's default index

	VCS       *VCS       `toml:"vcs,inline,omitempty"`       // a commit of a repository
	Directory *Directory `toml:"directory,inline,omitempty"` // a project beside the lock
	Archive   *Wheel     `toml:"archive,inline,omitempty"`   // one file at an address or beside the lock, without a name
	Sdist     *Wheel     `toml:"sdist,inline,omitempty"`     // a source distribution, which is built
	Wheels    []Wheel    `toml:"wheels,omitempty"`           // sorted by file name
}

// A Wheel is one file.
type Wheel struct {
	Name         string `toml:"name,omitempty"`
	URL          string `toml:"url,omitempty"`
	Path         string `toml:"path,omitempty"`         // relative to the file, in a bundle
	Size         int64  `toml:"size,omitempty"`         // bytes
	Subdirectory string `toml:"subdirectory,omitempty"` // of an archive
	Hashes       Hashes `toml:"hashes,inline"`
}

// Hashes are in lower-case hex.
type Hashes struct {
	SHA256 string `toml:"sha256"`
}

// Encode returns the canonical bytes of the file, after [Packages.Validate].
func (p *Packages) Encode() ([]byte, error) {
	slices.SortFunc(p.Packages, func(a, b Package) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	for i := range p.Packages {
		slices.SortFunc(p.Packages[i].Wheels, func(a, b Wheel) int { return strings.Compare(a.Name, b.Name) })
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return marshal(p)
}

// DecodePylock reads a pylock file that envfix wrote. It refuses unknown keys,
// entries without a hash or a commit, and files outside the folder.
func DecodePylock(b []byte) (*Packages, error) {
	b = Text(b)
	if err := readable("pylock", b); err != nil {
		return nil, err
	}
	var p Packages
	if err := decodeStrict(b, &p); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &p, nil
}

var (
	packageName = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	wheelName   = lazy.Regexp(`^([A-Za-z0-9_.]+)-([A-Za-z0-9_.+!]+)(-[0-9][A-Za-z0-9_]*)?-([a-z0-9_.]+)-([a-z0-9_.]+)-([a-zA-Z0-9_.]+)\.whl$`)
	versionText = lazy.Regexp(`^[0-9][A-Za-z0-9.!+_-]*$`)
)

// Validate checks what PEP 751 and envfix demand: names in normal form and once
// each, a version that is also the file's, a SHA-256, a size, and exactly one of
// an https URL without credentials and a relative path inside the folder. All
// faults are returned together.
func (p *Packages) Validate() error {
	faults := []error{oneLine(reflect.ValueOf(*p))}
	if p.LockVersion != "1.0" {
		faults = append(faults, fmt.Errorf("lock-version %q: this envfix reads 1.0", text.Clip(p.LockVersion, 120)))
	}
	if len(p.Packages) == 0 {
		faults = append(faults, errors.New("it has no packages"))
	}
	seen := map[string]bool{}
	for _, k := range p.Packages {
		if seen[k.Name] {
			faults = append(faults, fmt.Errorf("package %s stands twice", text.Clip(k.Name, 120)))
		}
		seen[k.Name] = true
		if err := k.validate(); err != nil {
			faults = append(faults, fmt.Errorf("package %s: %w", text.Clip(k.Name, 120), err))
		}
	}
	return errors.Join(append(faults, p.validateGroups())...)
}

func (k Package) validate() error {
	switch {
	case !packageName().MatchString(k.Name):
		return errors.New("not a normalised name")
	case !versionText().MatchString(k.Version) && (k.Version != "" || k.Directory == nil):
		return fmt.Errorf("version %q", text.Clip(k.Version, 120))
	case k.forms() != 1:
		return errors.New("want exactly one of wheels, sdist, archive, vcs and directory")
	case k.Index != "" && !plainURL(k.Index):
		return fmt.Errorf("index %q: want an https URL without credentials", text.Clip(k.Index, 120))
	}
	for _, w := range k.Wheels {
		if err := w.validate(k); err != nil {
			return fmt.Errorf("%s: %w", text.Clip(w.Name, 120), err)
		}
	}
	return k.validateSource()
}

func (w Wheel) validate(k Package) error {
	m := wheelName().FindStringSubmatch(w.Name)
	switch {
	case m == nil || w.Subdirectory != "": // only an archive has one
		return errors.New("not the name of a wheel")
	case machine.NormalName(m[1]) != k.Name:
		return fmt.Errorf("a wheel of %s", machine.NormalName(m[1]))
	case !sameVersion(m[2], k.Version):
		return fmt.Errorf("its version is not %s", text.Clip(k.Version, 120))
	case w.Path != "" && lastElement(w.Path) != w.Name:
		return errors.New("path and name disagree")
	case w.URL != "" && lastElement(w.address().Path) != w.Name:
		return errors.New("url and name disagree")
	}
	return w.validateFile()
}

// validateFile checks a file's digest, its size and its place.
func (w Wheel) validateFile() error {
	switch {
	case !hexSHA256().MatchString(w.Hashes.SHA256):
		return errors.New("it has no sha256")
	case w.Size <= 0:
		return errors.New("it has no size")
	case (w.URL == "") == (w.Path == ""):
		return errors.New("want exactly one of url and path")
	case w.Path != "" && !insidePath(w.Path):
		return fmt.Errorf("path %q leaves the folder", text.Clip(w.Path, 120))
	case w.URL != "" && !plainURL(w.URL):
		return fmt.Errorf("url %q: want https without credentials", text.Clip(w.URL, 120))
	}
	return nil
}

func insidePath(p string) bool {
	return !strings.ContainsAny(p, "\\:") && !strings.HasPrefix(p, "/") && !slices.Contains(strings.Split(p, "/"), "..")
}

// plainURL accepts https, and http on a loopback address (a mirror on this
// machine), without user, query or fragment.
func plainURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	h := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (h == "127.0.0.1" || h == "::1" || h == "localhost")
}

// address is the URL of the wheel; an empty one where that is none.
func (w Wheel) address() *url.URL {
	u, err := url.Parse(w.URL)
	return say.Either(err == nil, u, &url.URL{})
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Host returns the host of the wheel's URL, "" for a path.
func (w Wheel) Host() string { return w.address().Host }

// Hosts returns the hosts that the files come from, sorted.
func (p *Packages) Hosts() []string {
	hosts := xslices.Once(text.Each(p.Files(), Wheel.Host))
	slices.Sort(hosts)
	return slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
}

// Find returns the package of that normalised name, nil where there is none.
func (p *Packages) Find(name string) *Package {
	return xslices.At(p.Packages, func(k Package) bool { return k.Name == name })
}

// sameVersion compares a wheel's file-name version with an entry's: file names
// write the separators of a local label as "_" or ".".
func sameVersion(file, entry string) bool {
	plain := strings.NewReplacer("_", ".", "-", ".")
	return plain.Replace(strings.ToLower(file)) == plain.Replace(strings.ToLower(entry))
}
