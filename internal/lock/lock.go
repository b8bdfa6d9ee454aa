// Package lock reads and writes envfix.lock and the pylock files beside it, says
// which profile a machine matches, and what two locks differ in. It reads no
// files and asks no network.
//
// envfix.lock pins, per kind of machine, what a standard pylock file (PEP 751)
// cannot say: the driver floor, the compute capabilities, the matrix that it was
// made from. PEP 751 demands that data under its [tool] table must not affect
// an installation, so those conditions cannot live there.
package lock

import (
	"fmt"
	"strings"

	"envfix/internal/text"
	"envfix/internal/xslices"
)

// Schema is the number of the form of envfix.lock.
const Schema = 1

// File is the name of the lock in a project.
const File = "envfix.lock"

// MaxBytes is the size above which a lock or pylock file is refused unread.
const MaxBytes = 8 << 20

// A Lock is the content of envfix.lock. Its fields are in the order of the file.
type Lock struct {
	Schema         int       `toml:"schema"`
	RequiresEnvfix string    `toml:"requires-envfix"` // least version, such as ">=0.1"
	ContentSHA256  string    `toml:"content-sha256"`  // hex, over this file with this field empty
	InputSHA256    string    `toml:"input-sha256"`    // hex, over Input
	Matrix         Matrix    `toml:"matrix"`
	Input          Input     `toml:"input"`
	Profiles       []Profile `toml:"profile"` // sorted by name
}

// A Matrix names the data that the lock was made from.
type Matrix struct {
	Version string `toml:"version"`
	SHA256  string `toml:"sha256"`
}

// An Input is what a person asked for: enough to make the lock again.
type Input struct {
	Requirements []string `toml:"requirements"`         // PEP 508, sorted; those of Files left out
	Sources      []Source `toml:"file,omitempty"`       // that requirements are read from, sorted by path
	SameTorch    bool     `toml:"same-torch,omitempty"` // one torch for every profile
	Constraints  []string `toml:"constraints,omitempty"`
	Build        []string `toml:"build,omitempty"`         // packages that may be built from source, sorted
	AsNamed      []string `toml:"as-named,omitempty"`      // packages that are meant as they are written, sorted
	DefaultIndex string   `toml:"default-index,omitempty"` // that a file names in place of the installer's default
	Defaults     string   `toml:"defaults,omitempty"`      // facts of every target that does not say otherwise
	Python       string   `toml:"python,omitempty"`        // of .python-version, else of a requires-python that no file of these has
	Indexes      []Tied   `toml:"index,omitempty"`         // that packages are tied to
	Groups       []Group  `toml:"group,omitempty"`         // that can be chosen where it is installed, sorted by name
	Policy       *Policy  `toml:"policy,omitempty"`        // what the team admits
	Targets      []Target `toml:"target"`                  // sorted by name
}

// A Tied is an index and the packages that come from there and from nowhere else.
type Tied struct {
	Name     string   `toml:"name"` // as in uv's variables UV_INDEX_NAME_USERNAME
	URL      string   `toml:"url"`
	Packages []string `toml:"packages"`
}

// A Source is one file of requirements.
type Source struct {
	Path         string   `toml:"path"` // relative to the lock, with slashes
	Requirements []string `toml:"requirements"`
	Python       string   `toml:"requires-python,omitempty"`
	Constraints  []string `toml:"constraints,omitempty"`
	Overrides    []string `toml:"overrides,omitempty"`
	Places       []string `toml:"places,omitempty"`  // lines as of a requirements file; paths relative to the lock
	Options      []string `toml:"options,omitempty"` // of the resolution: "exclude-newer=2026-01-01"
	Hashes       []string `toml:"hashes,omitempty"`  // "numpy sha256": the only files of numpy that are admitted
}

// A Target is one kind of machine, as it was described.
type Target struct {
	Name  string `toml:"name"`
	Facts string `toml:"facts"` // "driver=580 gpu=V100 os=linux python=3.12", keys sorted
}

// A Profile is one kind of machine and what is installed on it.
type Profile struct {
	Name    string   `toml:"name"`  // no dot: it is part of a pylock file's name
	Torch   string   `toml:"torch"` // with its local label, such as 2.14.1+cu126
	Build   string   `toml:"build"` // cu126, cpu, mps …
	CUDA    string   `toml:"cuda,omitempty"`
	CuDNN   string   `toml:"cudnn,omitempty"`
	Python  string   `toml:"python"`              // 3.12
	Arches  []string `toml:"arch-list,omitempty"` // what torch._C._cuda_getArchFlags() prints
	Match   Match    `toml:"match"`
	Driver  Driver   `toml:"driver"`
	Pylock  Pylock   `toml:"pylock"`
	Size    Size     `toml:"size"`
	Hosts   []string `toml:"hosts"`           // that the files come from, sorted
	Verify  []string `toml:"verify"`          // checks after the installation, sorted
	Indexes []Index  `toml:"index,omitempty"` // package → index; the default index is left out
}

// A Match is the conditions that a machine must meet. Empty fields ask nothing.
type Match struct {
	OS          string   `toml:"os"`
	Arch        string   `toml:"arch"`
	Libc        string   `toml:"libc,omitempty"`                 // "glibc>=2.28"
	GPU         string   `toml:"gpu"`                            // nvidia, amd, intel, apple, none
	SMs         []string `toml:"compute-capabilities,omitempty"` // every GPU of the machine has one of these
	GFX         []string `toml:"gfx,omitempty"`
	Driver      string   `toml:"driver,omitempty"`      // ">=525.60.13"
	Environment string   `toml:"environment,omitempty"` // only there: wsl2
}

// A Driver is what the profile says of the NVIDIA driver.
type Driver struct {
	Policy string `toml:"policy"`           // check-only: applying the lock never changes it; none: none is needed
	Branch string `toml:"branch,omitempty"` // recommended where one has to be installed
}

// A Pylock names the standard file with the packages.
type Pylock struct {
	File   string `toml:"file"`
	SHA256 string `toml:"sha256"`
}

// A Size is in bytes; Installed is 0 where it is unknown.
type Size struct {
	Download  int64 `toml:"download"`
	Installed int64 `toml:"installed,omitempty"`
}

// An Index says where one package comes from.
type Index struct {
	Package string `toml:"package"`
	URL     string `toml:"url"`
}

// Profile returns the profile of that name.
func (l *Lock) Profile(name string) (*Profile, error) {
	p := xslices.At(l.Profiles, func(p Profile) bool { return p.Name == name })
	if p == nil {
		return nil, fmt.Errorf("the lock has no profile %q; it has %s", text.Clip(name, 120), strings.Join(l.Names(), ", "))
	}
	return p, nil
}

// Names returns the names of the profiles, in the order of the file.
func (l *Lock) Names() []string {
	return text.Each(l.Profiles, func(p Profile) string { return p.Name })
}

// PylockName returns the name of a profile's pylock file.
func PylockName(profile string) string { return "pylock." + profile + ".toml" }
