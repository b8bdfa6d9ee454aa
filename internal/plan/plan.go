// Package plan defines the plan: what was decided, why, and an ordered list of
// steps. A plan is data that can be printed, saved, compared and reviewed, and
// it is all that apply acts on.
package plan

import (
	"envfix/internal/machine"
	"envfix/resolver"
)

// Format is the number of the plan's JSON form.
const Format = 1

// A Plan is what would be done. Its JSON form is fixed by its schema (`envfix schema plan`).
type Plan struct {
	Format          int               `json:"format"`
	ID              string            `json:"id"` // sha256:… over everything else
	Decision        resolver.Decision `json:"decision"`
	resolver.Choice                   // what fits now; zero where nothing does
	Driver          Driver            `json:"driver"`
	resolver.Told
	Wish     *Wish    `json:"wish,omitempty"` // what only the command line says, or said when the environment was made
	Read     string   `json:"read,omitempty"` // of a project: its files that were read, and those that were not followed
	EnvFixes []EnvFix `json:"env_fixes"`
	Target   Target   `json:"target"`
	Keep     *Keep    `json:"carry,omitempty"`   // nil: no environment is replaced
	Steps    []Step   `json:"steps"`             // empty: the machine already conforms
	Partial  bool     `json:"partial,omitempty"` // the rest depends on what the steps bring, and is planned then
	Basis    Basis    `json:"basis"`
}

// Waits reports whether the driver has to change first, and nothing is done without that: what
// runs with the present one is nothing, or not what was asked for.
func (p *Plan) Waits() bool {
	return len(p.Steps) == 0 && (p.Decision == resolver.UpgradeDriver || p.Decision == resolver.PinDriverBranch)
}

// Installs is the combination that the steps install: the choice, or where nothing fits
// as it is, what fits behind a change of the driver or without one. It is zero where
// nothing is installed.
func (p *Plan) Installs() resolver.Choice {
	if p.Torch != "" || len(p.Packages) > 0 {
		return p.Choice
	}
	for _, s := range p.Steps {
		for _, c := range []*resolver.Choice{p.Then, p.Fallback} {
			if s.Verify != nil && c != nil && (s.Verify.Torch == c.Torch || s.Verify.Torch == c.Packages["torch"]) {
				return *c
			}
		}
	}
	return resolver.Choice{}
}

// Driver is what happens to the NVIDIA driver; null fields are unknown or not
// needed.
type Driver struct {
	Action       string  `json:"action"`
	Minimum      *string `json:"minimum"`
	Branch       *string `json:"branch"`
	KernelModule *string `json:"kernel_module"`
	Version      *string `json:"version,omitempty"` // exactly this one is installed; nil: what the repository holds then
}

// An EnvFix is one change of an environment variable.
type EnvFix struct {
	Variable  string `json:"variable"`
	Action    string `json:"action"` // remove, prepend, set
	Value     string `json:"value"`
	Why       string `json:"why"`
	From      string `json:"from,omitempty"`      // file:line that sets it; "" unknown
	Suspected bool   `json:"suspected,omitempty"` // its files could not be read here
}

// A Target is where packages go and with which tool.
type Target struct {
	Dir     string `json:"dir"`     // .venv or a conda prefix, as it was given
	Manager string `json:"manager"` // uv, pip, conda, mamba, micromamba, pixi, poetry
	InPlace bool   `json:"in_place,omitempty" flag:"in-place"`
	Offline bool   `json:"offline,omitempty" flag:"offline"` // use no network
	AsOf    string `json:"as_of,omitempty" flag:"as-of"`     // packages as the index had them at the end of that day

	// Mirrors are pairs "FROM=TO": an index URL that begins with FROM is fetched
	// from TO instead; "default=TO" serves the default index.
	Mirrors []string `json:"mirrors,omitempty" flag:"mirror"`

	Repair *Repair `json:"mend,omitempty"` // nil: nothing is broken, or nobody looked

	// Fresh and Drop say which packages of the environment that is replaced are not
	// carried over: none at all, or none of these names.
	Fresh     bool     `json:"fresh,omitempty" flag:"fresh"`
	FreshWish bool     `json:"fresh_wish,omitempty" flag:"fresh-wish"` // what was asked for when the environment was made does not count
	Drop      []string `json:"drop,omitempty" flag:"drop"`

	// FromIndex are packages of the environment that is replaced of which the user says
	// that they are from the index in use; "all" of them.
	FromIndex []string `json:"from_index,omitempty" flag:"from-index"`

	// Build are packages, NAME==VERSION, that have no wheel and are built where they are
	// installed: their code runs then.
	Build []string `json:"build,omitempty"`

	// BuildLimits are what the tools that build those are held to: "setuptools<=81.0.0".
	BuildLimits []string `json:"build_limits,omitempty"`

	// Pins are the versions, NAME==VERSION, that uv found to go together, and Override what
	// the project puts in place of what packages require: the installer is held to both.
	Pins     []string `json:"pins,omitempty"`
	Override []string `json:"override,omitempty"`

	// Places are packages of repositories, NAME @ git+https://…, that are built where they
	// are installed: their code runs then.
	Places []string `json:"places,omitempty"`

	// Below are requirements that pip installs after what conda does.
	Below []string `json:"below,omitempty"`

	// Editable is the folder of the project that is installed in place, after what it
	// requires; "" none.
	Editable         string   `json:"editable,omitempty"`
	Members          []string `json:"members,omitempty"` // folders of packages that are installed in place before it
	NoInstallProject bool     `json:"no_install_project,omitempty" flag:"no-install-project"`

	// Imported is what the project's sources import beside its own: each is tried when it is
	// installed. Closure: what it imports and does not ask for is asked for.
	Imported []Imported `json:"imported,omitempty"`
	Closure  bool       `json:"closure,omitempty" flag:"closure"`
	Lacks    bool       `json:"-"` // its sources import what nothing brings, and Closure would add it
	Closing  []string   `json:"-"` // what is built then

	// Listed is a requirements file with hashes, which lists all that the environment
	// is to hold; "" there is none.
	Listed string `json:"listed,omitempty"`

	// Adds and Removes are the packages of which the environment is to hold more or fewer,
	// all else as it is; nil: it is to be what is asked for.
	Adds     []string `json:"adds,omitempty"`
	Removes  []string `json:"removes,omitempty"`
	Restores []string `json:"restores,omitempty"` // NAME==VERSION, as it is there: its files come again

	// Bring is the index that uv comes from, by envfix itself, where neither uv nor a Python
	// is here; Unpack has the distribution's Python unpacked among envfix's tools as well.
	Bring  string `json:"-"`
	Unpack bool   `json:"-"`

	// Held is what the environment in Dir holds; nil: there is none, or nobody
	// looked. What is carried over of it stands in the plan's Keep.
	Held *machine.Held `json:"-"`

	// State says for people how Dir is meant: active, new …; "" nobody looked. Named:
	// --env named it. Obstacle: what comes first, where a file has that name.
	State    string `json:"-"`
	Named    bool   `json:"-"`
	Obstacle string `json:"-"`

	// Project is the project's own file beside Dir, where it is written: of pixi and Poetry by
	// --manager, of any tool by Edit; nil: none.
	Project []byte `json:"-"`
	Edit    bool   `json:"edit,omitempty" flag:"edit"` // what makes the project's own tool install this is written into it

	WithPip bool `json:"with_pip,omitempty" flag:"with-pip"` // pip is in the environment, whoever makes it

	// ProjectFile is the name of Project's file, which may have two names.
	ProjectFile string `json:"project_file,omitempty"`
}

// An Imported is a module that a project's sources import.
type Imported struct {
	Module   string `json:"module"`
	Package  string `json:"package,omitempty"`  // that brings it; "" not known
	Optional bool   `json:"optional,omitempty"` // they do without, where it is not there
	Aside    bool   `json:"aside,omitempty"`    // tests, demos and scripts alone import it, and nothing that is documented

	At    string   `json:"at,omitempty"`    // the first file that imports it
	Parts []string `json:"parts,omitempty"` // what of it no file begins without, each by its whole name
}

// A Repair is what doctor asks of a plan beyond the choice of packages.
type Repair struct {
	Rebuild  bool     `json:"rebuild,omitempty"`  // its files are broken: it is built anew although its packages are those of the plan
	Replaces string   `json:"replaces,omitempty"` // the generation in use, so that no two rebuilds are one plan; "" none
	Fetch    []string `json:"fetch,omitempty"`    // packages of which the installer's cache may be broken too
	Fixes    []EnvFix `json:"fixes,omitempty"`    // for its activate script, beyond those that follow from the facts
	Frame    string   `json:"frame,omitempty"`    // its Python ("3.12") and its scripts are put back, and its packages stay
	Sweep    bool     `json:"sweep,omitempty"`    // what an upgrade that broke off left stays behind, and its packages stay
}

// Framed is the Python that is put back into the environment; "" none is.
func (t Target) Framed() string {
	if t.Repair == nil {
		return ""
	}
	return t.Repair.Frame
}

// Amends reports whether a few packages are added, removed or brought again, or what the
// environment is without them, and all else stays.
func (t Target) Amends() bool {
	return len(t.Adds)+len(t.Removes)+len(t.Restores) > 0 || t.Framed() != "" || t.Repair != nil && t.Repair.Sweep
}

// Rebuild reports whether the environment is built anew whatever it holds.
func (t Target) Rebuild() bool { return t.Repair != nil && t.Repair.Rebuild }

// A Step is one change. Exactly one of Run, Copy, Write, Block, Manual, Switch and
// Verify is set.
type Step struct {
	ID     string  `json:"id"` // stable within a plan: "venv", "torch", "verify"
	Title  string  `json:"title"`
	Why    string  `json:"why"`
	Root   bool    `json:"root"` // needs privilege
	Run    *Run    `json:"run,omitempty"`
	Copy   *Copy   `json:"copy,omitempty"`
	Clone  *Clone  `json:"clone,omitempty"`
	Write  *Write  `json:"write,omitempty"`
	Block  *Block  `json:"block,omitempty"`
	Manual *Manual `json:"manual,omitempty"`
	Switch *Switch `json:"switch,omitempty"`
	Verify *Verify `json:"verify,omitempty"`
	Bytes  int64   `json:"bytes"`                // to receive; 0: none or unknown
	Disk   int64   `json:"disk_bytes,omitempty"` // on disk afterwards
	Undo   *Run    `json:"undo"`

	Rehearsal *Rehearsal `json:"rehearsal,omitempty"` // Run only shows what it would do, and this is looked at
	Effect    *Effect    `json:"effect,omitempty"`    // what is so after Run
}

// A Rehearsal says what a simulated Run of the package manager may take away.
// Anything else that it would remove, be it a desktop or a kernel, ends the plan.
type Rehearsal struct {
	MayRemove []string `json:"may_remove"` // names of packages; a star stands for any text
}

// An Effect is a package that is installed in one version afterwards: package
// managers end well with something else installed, too.
type Effect struct {
	Package string `json:"package"`
	Version string `json:"version"` // as the package manager writes it, with its epoch
}

// A Run is one command: an argv, never a shell string. "{gen}" in an argument
// stands for the directory that is being built, which apply chooses, and
// "{tools}" for the directory of envfix's own tools below the XDG state
// directory (.../envfix/tools).
type Run struct {
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"`
	Dir  string            `json:"dir,omitempty"`

	// Known are complaints that a check of the packages may end with, because the
	// environment that is replaced gives them too.
	Known []Complaint `json:"known,omitempty"`
}

// A Copy makes wheels of packages in Dir, the environment that is replaced, from
// their files, into {gen}/envfix-carried: each file must have the hash that it was
// installed with. The step after it installs them, and no index is asked for them.
type Copy struct {
	Dir      string   `json:"dir"`      // as Target.Dir
	Packages []string `json:"packages"` // name==version
}

// A Clone makes {gen} what the environment is that is in use, by hard links.
type Clone struct {
	Dir     string   `json:"dir"`               // as Target.Dir
	Without []string `json:"without,omitempty"` // distributions that come again, and what an upgrade left (~orch): their files stay behind
}

// A Write creates or replaces one file.
type Write struct {
	Path    string `json:"path"`
	Mode    uint32 `json:"mode"` // permission bits
	Content string `json:"content"`
	Before  string `json:"before,omitempty"` // sha256, in hex, of the file that it replaces; "" any
}

// A Block owns the lines between two markers of a file that is not ours.
type Block struct {
	Path  string   `json:"path"`
	Name  string   `json:"name"`
	Lines []string `json:"lines"`

	Backup string `json:"backup,omitempty"` // where the file as it was is kept; "" nowhere
	Before string `json:"before,omitempty"` // sha256, in hex, of the file without this change; "" any
}

// A Manual is a step that a person must take, such as a reboot. Apply stops
// there.
type Manual struct {
	Text   string `json:"text"`
	Reboot bool   `json:"reboot,omitempty"`
}

// A Switch makes Dir the environment that was built aside, by one rename.
type Switch struct {
	Dir string `json:"dir"`
}

// A Verify is what the finished environment must prove.
type Verify struct {
	Torch   string   `json:"torch"` // with its label
	CUDA    string   `json:"cuda,omitempty"`
	CuDNN   string   `json:"cudnn,omitempty"`
	Arches  []string `json:"arches,omitempty"`
	GPUs    int      `json:"gpus"`    // how many must compute; 0: none is here
	Imports []string `json:"imports"` // torch, torchvision …

	// Added are the distributions that come into an environment that stays: their modules are
	// imported, and torch again only where it may not be what it was.
	Added []string `json:"added,omitempty"`

	// Packages are those that were carried over, which the environment must hold.
	Packages []KeptPackage `json:"packages,omitempty"`

	// OnGPU are the frameworks besides torch that must compute on a GPU.
	OnGPU []string `json:"on_gpu,omitempty"`

	CUDAVisible string `json:"cuda_visible_devices,omitempty"` // of the proof; "" as it is
}

// A Basis identifies what a plan was computed from. Apply refuses a saved plan
// whose facts no longer hold.
type Basis struct {
	Assumed []string         `json:"assumed,omitempty"` // what nobody said of a described machine, with the flag that says it
	Envfix  string           `json:"envfix"`
	Matrix  MatrixID         `json:"matrix"`
	Facts   machine.Machine  `json:"facts"`
	Request resolver.Request `json:"request"`
}

// A MatrixID names one state of the data.
type MatrixID struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}
