package plan

import "envfix/internal/version"

// A Keep is what becomes of the packages of the environment that a plan
// replaces. The steps carry it out; it decides nothing by itself.
type Keep struct {
	From    string        `json:"from"`          // the environment, as Target.Dir
	Why     string        `json:"why,omitempty"` // why nothing is carried over; "" it is
	Changes []Change      `json:"changes"`
	Stays   []KeptPackage `json:"stays"`
	Leaves  []Dropped     `json:"leaves"`
	Known   []Complaint   `json:"known,omitempty"` // that the environment has already, and keeps
}

// A Change is a package that is there before and after, in another version, or no more.
type Change struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to,omitempty"` // "" the installer chooses, or it goes
	Goes bool   `json:"goes,omitempty"`
	Why  string `json:"why,omitempty"` // where To is ""
}

// A KeptPackage is one that is installed again.
type KeptPackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	From    string `json:"from,omitempty"`   // a path or an address; "" an index
	Loose   bool   `json:"loose,omitempty"`  // torch, or what was asked for, may need another version
	Files   string `json:"files,omitempty"`  // a hash over those of its code, which the same version must have again; "" unknown
	Tags    string `json:"tags,omitempty"`   // what its wheel is for: another one's files may differ
	Copied  bool   `json:"copied,omitempty"` // its files are, and no index is asked for it
	Python  bool   `json:"python,omitempty"` // its file was made for another Python, so another one is needed
}

// Is reports whether an installed version is the one that was carried over; 1.0 and
// 1.0.0 are one (PEP 440).
func (k KeptPackage) Is(installed string) bool {
	_, label := version.SplitLocal(k.Version)
	_, other := version.SplitLocal(installed)
	v := version.Public(installed)
	return k.Version == installed || !v.IsZero() && version.Public(k.Version).Compare(v) == 0 && label == other
}

// A Dropped is a package that is not carried over.
type Dropped struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Why     string `json:"why"`
}

// A Complaint is what a check of an environment says of two packages.
type Complaint struct {
	Package string `json:"package"`
	Needs   string `json:"needs"` // the name of what it needs
	Text    string `json:"text"`
}
