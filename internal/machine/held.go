package machine

import "envfix/internal/text"

// Held is what an environment holds that a plan replaces, with all it takes to
// install it again beside another torch. It is no part of the facts: only the
// machine itself has it, and only a plan that replaces the environment asks.
type Held struct {
	System    bool       // it also sees the packages of the interpreter that it was made from
	Dists     []HeldDist // sorted by name; the first copy of each
	Leftovers []string   // what an installer began to remove and never finished: "~orch"
	Files     bool       // false: names and versions alone are known, as from a file of facts
}

// A HeldDist is one distribution of such an environment.
type HeldDist struct {
	Name           string   // normalised (PEP 503)
	Version        string   // with its local label; of torch as torch/version.py says
	Requires       []string // Requires-Dist lines; those of extras are left out
	RequiresPython string
	Tags           []string   // of its WHEEL, such as cp312-cp312-manylinux_2_28_x86_64
	Origin         *DirectURL // where it came from by name (PEP 610); nil: from an index
	Broken         string     // what is wrong with its metadata; "" nothing
	Links          []string   // libraries that its machine code asks for and that torch or CUDA bring, by soname
	Bytes          int64      // on disk, as its RECORD says; 0: unknown
	Digest         string     // over the hashes of its code in RECORD; "" RECORD names none
	Whole          bool       // every file is there as RECORD lists it, as far as sizes and times tell: it can be copied
	Indexed        bool       // an installer's cache says that this version is from the default index
}

// The kinds of an [DirectURL].
const (
	FromEditable = "editable"
	FromDir      = "directory"
	FromArchive  = "archive"
	FromVCS      = "vcs"
)

// A DirectURL is what direct_url.json says.
type DirectURL struct {
	Kind         string
	URL          string // file:///…, https://…
	VCS          string // git …; of FromVCS
	Commit       string
	Subdirectory string
	Hash         string // sha256=…, of FromArchive; "" not said
	Gone         bool   // a local path that is no longer there
	Links        []string
}

// HeldFrom is what a file of facts tells of the environment: names, versions, and
// which torch they want.
func HeldFrom(m Machine) *Held {
	return &Held{Dists: text.Each(m.Installed, func(p Package) HeldDist { return HeldDist{Name: p.Name, Version: p.Version, Requires: p.Requires} })}
}
