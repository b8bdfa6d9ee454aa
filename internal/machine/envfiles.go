package machine

import (
	"path"

	"envfix/internal/say"
)

// EnvFiles is what the files of a Python environment say beyond the names and
// versions of its packages. It is no part of the facts: only the machine itself
// has it, and only `envfix doctor` asks for it.
type EnvFiles struct {
	Dir       string
	Sites     []string      // its directories of packages
	Dists     []DistFiles   // torch, what must match it, and NVIDIA's packages; every copy of each
	Leftovers []string      // directories that pip began to remove: "~orch"
	Gone      []ImportPlace // directories that a .pth file names and that are not there
	Imports   []ImportPlace // where `import torch` finds something; it takes the first
	Loaded    []LoadedLibrary
	Links     []LinkFault // what the dynamic loader would refuse
	ForCUDA   []ForCUDA   // packages that bring a library for each of some CUDAs
	Conda     []string    // conda's records here that say which build of torch it has: "pytorch 2.5.1 py3.11_cpu_0"
	Notes     []string    // what could not be read

	Variables []Variable    // that one value decides, as this shell and Python's start set them
	Elsewhere []Variable    // those that hide GPUs from a program that is started here, and not from this shell
	Options   []BadOption   // of torch's allocator
	Shadows   []ImportPlace // files that hide modules which torch imports
	Clashes   [][2]string   // distributions that write the same files
	Python    string        // what is wrong with its interpreter: see the Python constants; "" nothing
	Unbuilt   []string      // modules of Python's library that torch or torchvision imports, and that this Python was built without
	Lost      []string      // files of Python's library that are not there, and that torch's imports need
	Base      string        // the directory of the interpreter that it was made from, as pyvenv.cfg names it; "" none
	Pip       string        // the interpreter that its bin/pip starts, where that is another's; "" no such
	Starts    []StartFault  // what files do that Python runs when it starts
	Unseen    []string      // links of the chain from `import torch` to the GPU that could not be looked at
	Bare      string        // the version of a torch whose package is there and whose dist-info is not; "" no such
}

// ForCUDA is a package that opens the one of its libraries which is for torch's CUDA.
type ForCUDA struct {
	Dist     string
	Versions []string // of CUDA: "12.4"
}

// LibrariesUnread is of EnvFiles.Notes: what the loader would take cannot be told.
const LibrariesUnread = "libraries that are there could not be opened"

// The values of EnvFiles.Python.
const (
	PythonGone   = "gone"   // bin/python leads nowhere
	PythonNone   = "none"   // it is conda's, which was never asked for one
	PythonAstray = "astray" // PYTHONPLATLIBDIR has it look for its library where that is not
	PythonAbsent = "absent" // there is no bin/python
	PythonBarred = "barred" // bin/python may not be started
	PythonScript = "script" // bin/python is a script that starts another Python
	PythonOther  = "other"  // it is of another version than the packages are for
	PythonClosed = "closed" // this user may not reach what bin/python leads to
	PythonBare   = "bare"   // the library that the interpreter starts with is not there
	PythonUnmade = "unmade" // there is no pyvenv.cfg, by which the interpreter knows that it is an environment's
	PythonMute   = "mute"   // this user may not read pyvenv.cfg, and Python ends at its start for it
	PythonAlien  = "alien"  // it was made by Windows, and this is another system
	PythonCopied = "copied" // the interpreter is for another processor
)

// A StartFault is what a file does to Python, or to the import of torch, when Python starts.
type StartFault struct {
	At  Origin
	Is  string // see the Start constants
	How string // what it says
}

// The values of StartFault.Is.
const (
	StartUnread  = "unread"  // Python cannot decode it, and ends
	StartEnds    = "ends"    // it ends Python, whatever happens
	StartHides   = "hides"   // it puts nothing in the place of a module that torch imports
	StartUnfound = "unfound" // it imports a module that is not there
	StartNarrows = "narrows" // it narrows where Python looks, how deep it calls or how much it may use
	StartHooks   = "hooks"   // it works on how Python imports, and names what torch imports
)

// A Variable is one that is set, and where.
type Variable struct {
	Name, Value string
	AtStart     bool // by a file that Python runs when it starts, whatever the shell says
	Origins     []Origin
}

// A BadOption is an option in a variable that torch refuses.
type BadOption struct {
	Variable, Option string
	Near             string // the option that was meant; "" not known
	Value, Wants     string // that the option cannot have, and what it can, in words; "" there is no such option
}

// DistFiles is one distribution, its metadata compared with the disk.
type DistFiles struct {
	Name      string // normalised (PEP 503)
	Version   string // as its metadata says
	Module    string // torch: as torch/version.py says; "" unknown
	Info      string // its dist-info directory
	Installer string // pip, uv, conda; "" unknown
	Requires  []string
	Record    string   // what is wrong with RECORD itself; "": nothing, or there is none to judge
	Files     int      // that were looked at
	Missing   []string // listed in RECORD and not there, the libraries first; a few of them
	Absent    int      // how many are missing
	Gone      string   // the directory of the sources that it is installed in place of, where that is not there
	Link      string   // where links lead that stand for missing files; "" they are no links
	Libraries []string // that it brings, as RECORD lists them
	ABI       string   // the Python or the platform that its machine code is for, where that is another's: "cp312", "macosx_11_0_arm64"
	Resized   []string // libraries of another size than RECORD says, sources that are cut off; a few of them
	Damaged   bool     // some of Resized are libraries of that size and of another hash
	Rewritten []string // sources that are not those that were installed, though whole; a few of them
	Hides     []string // what is imported in place of a module of it, and is not of it; a few of them
	Cut       []string // byte code of it that was not written to its end; a few of them
	Barred    string   // a file of it that this user may not read, or a directory that he may not enter; "" none
	Backend   string   // the module that torch loads for it when it is imported, where that is not there
	Closed    []string // programs that may not be started
}

// The places of an [ImportPlace].
const (
	InWorkingDir  = "the working directory"
	InPythonPath  = "PYTHONPATH"
	InStartFile   = "a file that Python runs when it starts"
	InUserSite    = "the user's site-packages"
	InEnvironment = "the environment"
)

// An ImportPlace is one file or package that `import torch` could take.
type ImportPlace struct {
	Path    string // …/torch/__init__.py or …/torch.py
	Place   string
	Version string // of the distribution that lies beside it, where it is not torch's own package; "" unknown
	Tag     string // of the Python that its machine code is for, where that is another: "cpython-310"

	Origins []Origin // what put its directory on PYTHONPATH; nil: nothing found, or another place
}

// Site is the directory that holds it.
func (p ImportPlace) Site() string {
	return say.Either(path.Base(p.Path) == "__init__.py", path.Dir(path.Dir(p.Path)), path.Dir(p.Path))
}

// A LoadedLibrary is one library that importing torch loads, and the file that
// the dynamic loader would take for it.
type LoadedLibrary struct {
	Name    string // as it is asked for: libcudnn.so.9
	By      string // the library that asks
	Path    string // links followed; "": nowhere found
	Via     string // RPATH, LD_LIBRARY_PATH, RUNPATH, ld.so.cache, default
	Entry   string // of LD_LIBRARY_PATH, as it stands there, where it is found through that
	Version string // as the name of the file says, or the package that brought it; "" unknown
	Size    int64
	Wheel   string // the environment's own file of that name, where another one is taken

	Dir     string   // the entry of LD_LIBRARY_PATH or of the loader's cache that holds it, links not followed
	Origins []Origin // what put Dir there; nil: nothing found
}

// CompiledAt and WrittenAt are what a note says before the directory of what is compiled at run time, from which nothing may
// be executed, to which this user may not write, or which is none.
const CompiledAt, WrittenAt, NowhereAt = "compiled code may not be executed from ", "compiled code may not be written to ", "compiled code finds no folder at "

// ShellPython is what a note says before the `python` of this shell, where that is not the one of the environment that a
// variable calls active.
const ShellPython = "`python` of this shell is "

// PackagesAt is what a note says before the place that site-packages is a link to, which is not there.
const PackagesAt = "site-packages leads to "

// SyncedTo is what a note says before the lock of uv that lies beside an environment: `uv sync` and `uv run` make it so again.
const SyncedTo = "`uv sync` makes it as it is said in "

// A LinkFault is what the dynamic loader would refuse of a library: one that it needs is
// not there, or has not what it needs.
type LinkFault struct {
	By      string // the file that asks
	Dist    string // the distribution that brought By, where it is not torch itself, or with Why that brought Path
	Conda   string // the package of conda's that brought Path, NAME=VERSION; "" none did
	Backend bool   // Dist is one whose module torch loads when it is imported
	Module  bool   // By is a module that Python imports, and nothing that a program may do without
	Opened  bool   // By opens Library while it works, and loads without it
	Library string // that is missing, or lacks something; "" whose symbol it is cannot be told
	Path    string // the file that is taken for Library, or with Why the one that is not; "" there is none
	Why     string // Path cannot be loaded; "" it can, or there is none
	Via     string // as of [LoadedLibrary]
	Entry   string // of the variable, as it stands there
	Symbol  string // that no library has
	Version string // of a set of symbols, such as GLIBCXX_3.4.32, that Path lacks

	Origins []Origin // what put Path there; nil: nothing found
}
