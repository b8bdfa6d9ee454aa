// Package doctor finds what is wrong: with a machine and its environment, or
// with what somebody pasted. It reads nothing itself; it is given facts and text
// and returns findings, the root cause first.
//
// A [Case] is all that is known. [Reader] makes one from text; cmd/envfix makes
// one from this machine. Both pass through the same checks.
package doctor

import (
	"fmt"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
)

// Format is the number of the JSON form of a report.
const Format = 1

// A Severity is how bad a finding is.
type Severity int

// The severities.
const (
	Note Severity = iota
	Warning
	Error
)

var severities = []string{"note", "warning", "error"}

func (s Severity) String() string { return severities[s] }

// MarshalText writes note, warning or error.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Severity) parse(text string) bool {
	for i, t := range severities {
		if t == text {
			*s = Severity(i)
			return true
		}
	}
	return false
}

// A Confidence is how sure a finding is.
type Confidence int

// The confidences: a symptom alone, a message that names its cause, facts that
// leave no other.
const (
	Low Confidence = iota
	Medium
	High
)

func (c Confidence) String() string { return []string{"low", "medium", "high"}[c] }

// MarshalText writes low, medium or high.
func (c Confidence) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A Finding is one thing that is wrong, or worth knowing. Its JSON form is fixed
// by interfaces.md.
type Finding struct {
	Cause      string      `json:"cause"` // of the vocabulary of causes, or "none"
	Check      string      `json:"check"`
	Severity   Severity    `json:"severity"`
	Confidence Confidence  `json:"confidence"`
	Text       string      `json:"text"`
	Evidence   []string    `json:"evidence"` // "line 12: …", or a fact of this machine
	Fix        []string    `json:"fix"`      // what to do, the best first; commands in backticks
	Steps      []plan.Step `json:"steps"`    // what `doctor --fix` would run; empty: nothing it can do
	Explains   []string    `json:"explains"` // checks that this one is the reason of

	Mend Mend `json:"-"`

	order int // of the evidence: where it stands
}

// A Mend is what of a finding an environment built anew mends, or its activate
// script. The zero Mend: neither does; another plan may, or a person.
type Mend struct {
	Rebuild bool          // the same packages, installed anew
	Fetch   []string      // of these the installer's cache may be broken too: it links to the same files
	Fixes   []plan.EnvFix // of variables, where the environment is active
}

// IsZero reports whether nothing of the finding is mended so.
func (m Mend) IsZero() bool { return !m.Rebuild && len(m.Fixes) == 0 }

// and is what mends either; whether that was enough, the next examination says.
func (m Mend) and(o Mend) Mend {
	return Mend{Rebuild: m.Rebuild || o.Rebuild, Fetch: slices.Concat(m.Fetch, o.Fetch), Fixes: slices.Concat(m.Fixes, o.Fixes)}
}

// A Report is the answer of doctor.
type Report struct {
	Format   int       `json:"format"`
	OK       bool      `json:"ok"` // no finding of severity error, and something was there to look at
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes,omitempty"` // what could not be read
}

// A Case is everything that is known of a patient. A zero field is unknown,
// never absent.
type Case struct {
	Matrix  *matrix.Matrix      // nil: checks that need it find nothing
	Devices *matrix.DeviceTable // nil: names of GPUs say nothing
	Machine machine.Machine
	Torch   Torch
	SMI     SMI

	Packages  []Package
	Libraries []Library
	Memory    []Allocation
	Hits      []Hit
	Clues     []ClueHit

	Workloads []*Workload // containers as text describes how they are started
	Image     Dockerfile

	Pasted   bool // from text; false: this machine
	Evidence int  // facts and messages read from text; zero: nothing to go by
	Place    Place
	Notes    []string
	Used     []Usage           // memory in use, from nvidia-smi
	Files    *machine.EnvFiles // what the files of the environment say; nil: not read
	Imported *Imported         // what Python says of torch; nil: not asked

	unseenWords Said            // where somebody says that no GPU is seen
	facts       map[string]Said // where facts of Machine were read: driver, gpu, os, env:NAME …
	count       int             // of GPUs, as people say; 0: not said
	listed      bool            // the GPUs come from a list that is complete
	macOS       Said

	packaged version.Dotted // the driver package that is installed
	bus      []string       // NVIDIA's GPUs that lspci lists
	shown    string         // where `pip show torch` says that it lies

	interpreters []interpreter // values of sys.executable

	complains bool // somebody says in few words that something is wrong

	labels  []string // of builds that are named: cu128
	offered []string // versions of torch that an installer found on its index
}

// A Place is where the patient runs, as far as text says.
type Place struct {
	Container Said // docker, podman, kubernetes, singularity, LXC
	WSL       Said
	Jetson    Said
	Cluster   Said // Slurm and the like
	Conda     Said
	Colab     Said
}

// A Said is where something was read. The zero Said: not said.
type Said struct {
	File string // "" where there is but one
	Line int    // from 1; 0: a fact of the machine
	Text string // the line, cleaned and cut
}

// IsZero reports whether nothing was read.
func (s Said) IsZero() bool { return s == Said{} }

func (s Said) String() string {
	switch {
	case s.Line == 0:
		return s.Text
	case s.File != "":
		return fmt.Sprintf("%s, line %d: %s", s.File, s.Line, s.Text)
	}
	return fmt.Sprintf("line %d: %s", s.Line, s.Text)
}

// Torch is the torch that is imported, or would be.
type Torch struct {
	Version   string // public version; "" unknown
	Label     string // cu126, cpu, rocm6.4 …; "" none or unknown
	CUDA      version.Dotted
	NoCUDA    bool         // it says itself that it was built without CUDA
	HIP       string       // torch.version.hip
	Broken    bool         // collect_env could not import it
	Available *bool        // torch.cuda.is_available()
	Arches    []machine.SM // cubins
	PTX       []machine.SM // beside Arches
	Range     []machine.SM // the least and the greatest that a warning names; nil: none
	Path      string       // of torch/__init__.py

	VersionSaid, CUDASaid, AvailableSaid, ArchesSaid Said

	rank int // how good the source of the version is
}

// SMI is what nvidia-smi said beyond the facts of the machine.
type SMI struct {
	CUDA version.Dotted
	Said Said
}

// A Package is one row of a list of packages.
type Package struct {
	Name    string // normalised
	Version string // with its label
	Build   string // conda's build string
	Channel string // conda's channel; pypi: installed by pip
	Tool    string // pip, conda
	Path    string // of its dist-info, on this machine
	Said    Said
}

// A Library is one shared library as the loader finds it.
type Library struct {
	Name    string // libcudnn.so.9
	Path    string
	Version version.Dotted // zero: unknown
	Via     string         // LD_LIBRARY_PATH, ldconfig, runpath; "" unknown
	Said    Said
}

// An Allocation holds the numbers of one "out of memory" message, in bytes.
type Allocation struct {
	Total, Free, Tried int64
	Ours               int64 // reserved or in use by this process; -1 unknown
	Others             int64 // of other processes as the message lists them
	Said               Said
}

// A Hit is one message found.
type Hit struct {
	Message  *Message
	Said     Said
	Captures map[string]string
	Count    int // lines that held it, counted up to a cap
}

// A ClueHit is one clue of which every part was found.
type ClueHit struct {
	Clue *Clue
	Said []Said
}
