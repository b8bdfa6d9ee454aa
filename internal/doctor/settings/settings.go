// Package settings is the room of the variables that one value decides, and of the Python
// that reads them; where a file sets one, the file is named.
package settings

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/near"
	"envfix/internal/say"
	"envfix/internal/text"
)

// allocOptions: torch raises at the first use of CUDA where it does not know an option.
func allocOptions(e *evidence.Evidence, out *evidence.Findings) {
	for _, o := range e.Files.Options {
		f := out.Find("ACC023", evidence.Proven, e.From.Env[o.Variable]).
			Says("%s names %q, which torch %s does not know: it fails at the first use of CUDA", o.Variable, o.Option, e.Torch.Named())
		var ways []string
		if o.Variable == "TORCH_LOGS" {
			f.Says("TORCH_LOGS names %q, which torch %s does not know: `import torch` fails", o.Option, e.Torch.Named())
		}
		if o.Value != "" {
			f.Says("%s gives %s the value %q, and torch %s takes %s: it fails at the first use of CUDA", o.Variable, o.Option, o.Value, e.Torch.Named(), o.Wants)
		}
		if o.Near != "" {
			right := strings.Replace(e.Machine.Env[o.Variable], o.Option, o.Near, 1)
			ways = append(ways, fmt.Sprintf("`export %s=%s`: %s is meant", o.Variable, right, o.Near))
		}
		e.Repair().Unset(f, o.Variable, ways...)
	}
}

// pythonHome: with it Python takes its library from there, and no environment counts.
func pythonHome(e *evidence.Evidence, out *evidence.Findings) {
	v := e.Machine.Env["PYTHONHOME"]
	if e.Pasted || v == "" || e.Files == nil || path.Clean(v) == path.Clean(e.Files.Dir) {
		return
	}
	f := out.Find("PY044", evidence.Proven, e.From.Env["PYTHONHOME"]).
		Says("PYTHONHOME is %s: Python takes its library from there and leaves the packages of %s out, or does not start", v, e.Files.Dir).
		Explaining("PY002")
	e.Repair().Unset(f, "PYTHONHOME", "`unset PYTHONHOME`")
}

// gonePath: what compiles looks there, and only there.
func gonePath(e *evidence.Evidence, out *evidence.Findings) {
	if e.Pasted || e.Files == nil || e.Files.Dir == "" {
		return
	}
	for _, note := range e.Files.Notes {
		if dir, found := strings.CutPrefix(note, machine.CompiledAt); found {
			out.Find("LD005", evidence.Hint, evidence.Fact("%s: noexec", dir)).As(evidence.Warning).
				Says("%s is mounted noexec, and what is compiled at run time is loaded from there: torch.compile and triton fail (failed to map segment)", dir).
				Do("`export TRITON_CACHE_DIR=$HOME/.triton TORCHINDUCTOR_CACHE_DIR=$HOME/.cache/torchinductor`, or folders of a disk "+
					"without noexec (`findmnt -no TARGET,OPTIONS -T "+dir+"`)",
					"or `sudo mount -o remount,exec \"$(findmnt -no TARGET -T "+dir+")\"`, and the option out of /etc/fstab")
		}
		name, gone := strings.CutSuffix(note, " is not there")
		if !gone || name == "VIRTUAL_ENV" || name == "CONDA_PREFIX" {
			continue
		}
		f := out.Find("LD005", evidence.Weak, e.From.Env[name]).
			Says("%s is %s, which is not there: torch computes without it, and what compiles for the GPU fails (torch.compile, extensions)", name, e.Machine.Env[name]).
			As(evidence.Warning)
		var ways []string
		if len(e.Machine.Toolkits) > 0 && strings.HasPrefix(name, "CUDA_") {
			ways = append(ways, "`export "+name+"="+e.Machine.Toolkits[0].Path+"`, the toolkit that is here")
		}
		e.Repair().Unset(f, name, ways...)
	}
}

// ofFunction is what of a list is for one collective operation.
var ofFunction = lazy.Regexp(`(?i)\b(?:all|broadcast|reduce)\w*:`)

// noSuchValue: a word that a variable does not take is passed over in silence.
func noSuchValue(e *evidence.Evidence, out *evidence.Findings) {
	for _, row := range e.Limit("variable-values").Values {
		words := strings.Fields(row)
		name, list := strings.CutSuffix(words[0], ",")
		name, fatal := strings.CutSuffix(name, "!")
		name, slow := strings.CutSuffix(name, "~")
		words = words[1:]
		v := e.Machine.Env[name]
		items := []string{v}
		if list { // "^Tree", "Ring,Tree", "allreduce:Tree;broadcast:Ring"
			items = strings.FieldsFunc(ofFunction().ReplaceAllString(v, ""), func(r rune) bool { return strings.ContainsRune(",;^ ", r) })
		}
		i := slices.IndexFunc(items, func(item string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return w == item || list && strings.EqualFold(w, item) })
		})
		if e.Pasted || v == "" || i < 0 {
			continue
		}
		f := out.Find("ACC025", evidence.Likely, e.From.Env[name]).
			Says("%s=%q is none of the words that it takes (%s): it has no effect", name, v, strings.Join(words, ", "))
		if fatal {
			fails := say.Either(strings.HasPrefix(name, "CUDA_"), "CUDA does not start (invalid device ordinal)", "`import torch` fails")
			f.Says("%s=%q is none of the words that it takes (%s): %s", name, v, strings.Join(words, ", "), fails).As(evidence.Error)
		}
		likely := slices.MinFunc(words, func(a, b string) int { return near.Distance(a, items[i]) - near.Distance(b, items[i]) })
		ways := []string{"`export " + name + "=" + likely + "`, if that is meant"}
		if slow {
			f.Says("%s=%s is for finding faults: the program waits for the GPU at each step, and all work is slow", name, v)
			ways = nil
		}
		e.Repair().Unset(f, name, ways...)
	}
}

// activeGone: the shell's environment was moved or removed, and `python` is what PATH has.
func activeGone(e *evidence.Evidence, out *evidence.Findings) {
	name := "VIRTUAL_ENV"
	if e.Torch.Version == "" && slices.Contains(e.Files.Notes, "CONDA_PREFIX is not there") {
		name = "CONDA_PREFIX"
	}
	v := e.Machine.Env[name]
	if !slices.Contains(e.Files.Notes, name+" is not there") || e.Torch.Version != "" && strings.Contains(e.Machine.Env["PATH"], e.Files.Dir+"/bin") {
		return
	}
	f := out.Find("PY021", evidence.Proven.Exact(), e.From.Env[name]).
		Says("the environment that is active, %s, is not there: it was moved or removed, and `python` of this shell is another one", v).
		Do("an environment that was moved is made anew: `envfix apply`, or conda's own: `conda env list`").As(evidence.Error)
	if e.Files.Base != "" {
		f.Do("`source "+e.Files.Dir+"/bin/activate`, in a new shell", f.Fix[0])
	}
	for _, note := range e.Files.Notes {
		if to, leads := strings.CutPrefix(note, name+" leads to "); leads {
			f.Says("the environment that is active, %s, is a link to %s, which is not there or closed to this user: `python` of this shell is another one", v, to).
				Do("`namei -l "+v+"` shows where the way ends",
					"bring "+to+" back (a disk that is not mounted? `findmnt`, `sudo mount -a`)", "or `envfix apply` makes an environment in its place")
		}
	}
}

// archItem is one of TORCH_CUDA_ARCH_LIST (torch/utils/cpp_extension.py).
var archItem = lazy.Regexp(`(?i)^(?:\d{1,2}\.\d[af]?(?:\+PTX)?|Kepler(?:\+Tesla)?|Maxwell(?:\+Tegra)?|Pascal|Volta(?:\+Tegra)?|Turing|Ampere(?:\+Tegra)?|Ada|Hopper|Blackwell(?:\+Tegra)?)$`)

// archList: what compiles an extension ends with an error where it cannot read the list.
func archList(e *evidence.Evidence, out *evidence.Findings) {
	v := e.Machine.Env["TORCH_CUDA_ARCH_LIST"]
	if e.Pasted || v == "" {
		return
	}
	for _, item := range strings.FieldsFunc(v, func(r rune) bool { return r == ';' || r == ' ' }) {
		if archItem().MatchString(item) {
			continue
		}
		f := out.Find("TK022", evidence.Hint, e.From.Env["TORCH_CUDA_ARCH_LIST"]).
			Says("TORCH_CUDA_ARCH_LIST=%q: %q is no compute capability: what compiles for the GPU stops there", v, item)
		right := "8.6"
		if g := e.GPU().First(machine.NVIDIA); g != nil && !g.SM.IsZero() {
			right = g.SM.String()
		}
		e.Repair().Unset(f, "TORCH_CUDA_ARCH_LIST", "`export TORCH_CUDA_ARCH_LIST=\""+right+"\"`: numbers with a dot, with ; between them")
		return
	}
}

// noInterface: NCCL starts no connection where none of the interfaces is here.
func noInterface(e *evidence.Evidence, out *evidence.Findings) {
	v := e.Machine.Env["NCCL_SOCKET_IFNAME"]
	if e.Around == nil || len(e.Around.Networks) == 0 || v == "" || v[0] == '^' {
		return
	}
	exact := strings.HasPrefix(v, "=")
	for name := range strings.SplitSeq(strings.TrimPrefix(v, "="), ",") {
		if slices.ContainsFunc(e.Around.Networks, func(n string) bool { return n == name || !exact && name != "" && strings.HasPrefix(n, name) }) {
			return
		}
	}
	f := out.Find("MG009", evidence.Likely, e.From.Env["NCCL_SOCKET_IFNAME"], evidence.Fact("interfaces here: %s", strings.Join(e.Around.Networks, " "))).
		Says("NCCL_SOCKET_IFNAME=%s names no network interface of this machine: NCCL finds none and stops", v).As(evidence.Warning)
	e.Repair().Unset(f, "NCCL_SOCKET_IFNAME", "`ip -brief addr` lists the interfaces: name the one that leads to the other machines")
}

// minorOf is the Python that directories of packages are for: 3.11.
func minorOf(sites []string) (minor string) {
	for _, s := range sites {
		if _, v, ok := strings.Cut(s, "/lib/python"); ok {
			minor, _, _ = strings.Cut(v, "/")
		}
	}
	return minor
}

// pythonGone: nothing in the environment runs.
func pythonGone(e *evidence.Evidence, out *evidence.Findings) {
	if e.Pasted || e.Files == nil || e.Files.Python == "" {
		return
	}
	minor := minorOf(e.Files.Sites)
	dir, base := e.Files.Dir, e.Files.Base
	program := "`" + path.Join(base, "python"+minor) + "`"
	said := evidence.Fact("%s", strings.TrimSuffix(dir+"/bin/python leads to "+base, "/bin/python leads to "))
	if e.Files.Python == machine.PythonAbsent || e.Files.Python == machine.PythonBarred {
		said = evidence.Fact("%s/bin/python", dir)
	}
	f := out.Find("PY044", evidence.Proven.Exact(), said).
		Explaining("PY002", "PY027", "PY010", "PY011")
	anew := []string{"`envfix apply` builds it anew, with the torch that fits",
		"`uv venv --clear " + say.With("--python ", minor, " ") + dir + "` makes it anew, then install its packages again"}
	switch e.Files.Python {
	case machine.PythonUnmade:
		f.Says("%s has no pyvenv.cfg, by which Python knows that it is an environment: its packages are not seen, torch's neither", dir).Do(anew...)
	case machine.PythonAlien:
		f.Says("%s was made by Windows (it has Scripts and no bin): nothing in it runs here, under WSL neither", dir).Do(anew...)
	case machine.PythonCopied:
		f.Says("the Python of %s is for another processor: the environment was copied from another machine, and nothing in it runs here", dir).Do(anew...)
	case machine.PythonOther:
		f.Says("the Python of %s is another one now: its packages are for Python %s, and %s is not that", dir, minor, base).Do(anew...)
	case machine.PythonClosed:
		f.Says("this user may not reach the Python of %s: it lies in %s, of which a directory is closed to others", dir, base).
			Do("in an image: install Python where every user may read (`UV_PYTHON_INSTALL_DIR=/opt/python`) and make the environment anew",
				"or open the way: `sudo chmod a+rx` for the directories that `namei -l "+path.Join(base, "python"+minor)+"` shows closed", anew[0])
	case machine.PythonScript:
		f.Says("%s/bin/python is a script that starts another Python, which does not know of the environment: its packages are not seen, torch's neither", dir).Do(anew...)
	case machine.PythonAbsent:
		f.Says("%s has packages and no Python: there is no bin/python in it, and nothing in the environment runs", dir).Do(anew...)
	case machine.PythonBarred:
		f.Says("the Python of %s may not be started, as its file has lost that right: nothing in the environment runs", dir).
			Do(append([]string{"`" + text.Command("chmod", "a+rx", dir+"/bin/python") + "`, which goes where the link leads"}, anew...)...)
	case machine.PythonBare:
		f.Says("the library of the Python of %s is not there: %s starts and ends at once (no module named encodings)", dir, path.Join(base, "python"+minor)).
			Do(append([]string{"install that Python again where it was: " + program}, anew...)...)
	default:
		f.Says("the Python of %s is gone: it was %s, which was removed or upgraded; nothing in the environment runs", dir, base).
			Do(append(anew, "or install that Python again where it was: "+program)...)
	}
}

// buildsWith are the system's packages with which a module of Python's library is built.
var buildsWith = map[string]string{"_ctypes": "libffi-dev", "_lzma": "liblzma-dev", "_bz2": "libbz2-dev"}

// unbuilt: a Python that was compiled where a library of the system was missing.
func unbuilt(e *evidence.Evidence, out *evidence.Findings) {
	if lost := e.Files.Lost; len(lost) > 0 {
		more := say.If(len(lost) > 1, fmt.Sprintf(" and %d files more are missing", len(lost)-1))
		out.Find("PY044", evidence.Proven, evidence.Fact("missing: %s", lost[0])).Explaining("PY011").
			Says("the library of the Python of %s is not whole, %s%s, or empty: `import torch` fails", e.Files.Dir, lost[0], cmp.Or(more, " is missing")).
			Do("install that Python again: its system's package (on Debian `python3` in place of `python3-minimal`), `pyenv install --force`, `uv python install --reinstall`",
				"or make the environment anew with another one: `envfix apply`")
	}
	if len(e.Files.Unbuilt) == 0 {
		return
	}
	module, python := e.Files.Unbuilt[0], e.Python().Active()
	of := map[bool]string{true: "torch", false: "torchvision"}[module == "_ctypes"]
	out.Find("PY044", evidence.Proven, evidence.Fact("there is no %s among the modules of Python %s", module, python)).
		Says("the Python of %s was built without %s: `import %s` fails (No module named '%s')", e.Files.Dir, module, of, module).
		Do("a Python that has it, and the environment anew: `uv python install "+python+" && uv venv --clear --managed-python --python "+
			python+" "+e.Files.Dir+"`, then its packages",
			"or build that Python again with it: `sudo apt install "+buildsWith[module]+"` (on Red Hat's: -devel), "+
				"then as it was built (`pyenv install --force "+python+"`)")
}

// atStart: a file that Python runs when it starts ends it, or keeps torch away.
func atStart(e *evidence.Evidence, out *evidence.Findings) {
	for _, x := range e.Files.Starts {
		at := x.At.Place()
		f := out.Find("PY013", evidence.Proven, evidence.Fact("%s", strings.TrimSpace(at+" "+x.How))).Explaining("PY011")
		switch x.Is {
		case machine.StartUnread:
			f.Says("Python ends when it starts: %s is not UTF-8, as files of PowerShell's `>` are not", x.At.File).
				Do("write it anew in UTF-8, or remove it if nothing needs it: `" + text.Command("mv", x.At.File, x.At.File+".off") + "`")
		case machine.StartEnds:
			f.Says("%s ends Python whenever it starts (%s): no program of this environment runs", at, x.How).
				Do("`" + text.Command("mv", x.At.File, x.At.File+".off") + "`, or take that line out")
		case machine.StartHides:
			f.Says("%s takes modules away when Python starts (%s), which torch imports: `import torch` fails, or a part of it does", at, x.How).
				Do("take "+cmp.Or(slices.Concat(strings.FieldsFunc(x.How, func(r rune) bool { return r == '"' || r == '\'' }), []string{"", ""})[1], "torch")+" out of "+at+": every Python of this environment runs that file when it starts", "`envfix doctor --import` shows what Python says")
		case machine.StartUnfound:
			f.Over = nil
			f.Says("%s imports a module that is not there (%s): Python says so at each start, and goes on without the rest of that file", at, x.How).
				Do("`" + text.Command("mv", x.At.File, x.At.File+".off") + "`, or bring the package again that it belongs to").As(evidence.Note).Of("none")
		case machine.StartNarrows:
			if strings.Contains(x.How, "recursion") || strings.Contains(x.How, "-packages") {
				f.Says("%s leaves Python too little to import torch (%s): it calls no deeper than that, or does not look where packages are", at, x.How).
					Do("`" + text.Command("mv", x.At.File, x.At.File+".off") + "`, or take that line out")
				continue
			}
			f.Says("%s narrows where Python looks for modules, how deep it calls or how much it may use (%s): what that leaves of torch cannot be told without running it",
				at, x.How).
				Do("`envfix doctor --import` starts Python and tells", "without it: `"+text.Command("mv", x.At.File, x.At.File+".off")+"`").As(evidence.Warning).Proof = evidence.Hint
		default:
			f.Says("%s works on how Python imports (%s), and it names torch: what it does to it cannot be told without running it", at, x.How).
				Do("`envfix doctor --import` starts Python and tells").As(evidence.Warning).Proof = evidence.Hint
		}
	}
}

// least is a number of data/limits.yaml.
func least(l *evidence.Limit) int64 {
	return int64(evidence.Atoi(l.Values[0]))
}

// limits: CUDA reserves addresses for the memory of all GPUs when it starts; workers of a
// DataLoader hand each tensor over as an open file; InfiniBand locks what it sends.
// Source: docs.nvidia.com, CUDA C++ programming guide, unified virtual address space;
// docs.pytorch.org, torch.multiprocessing, sharing strategies.
func limits(e *evidence.Evidence, out *evidence.Findings) {
	if e.Around == nil {
		return
	}
	a := e.Around
	var memory int64
	for _, g := range e.GPU().Visible() {
		memory += g.MemoryBytes
	}
	if a.Addresses > 0 && a.Addresses < memory {
		f := out.Find("ACC014", evidence.Likely, evidence.Fact("RLIMIT_AS is %d MiB, the GPUs have %d MiB", a.Addresses>>20, memory>>20)).
			Says("this shell limits the address space of a process to %d GiB, and CUDA may reserve as much as the GPUs have (%d GiB): where it does, it cannot start",
				a.Addresses>>30, memory>>30).
			Do("`ulimit -v unlimited`, and take the limit out where it is set (/etc/security/limits.conf, the job's script)")
		if a.Addresses <= least(e.Limit("addresses"))<<10 {
			f.Says("this shell limits the address space of a process to %d GiB: CUDA does not start within that (out of memory)", a.Addresses>>30).As(evidence.Error)
		}
	}
	unread := e.Files != nil && slices.Contains(e.Files.Notes, machine.LibrariesUnread)
	switch {
	case unread && a.Files == 0:
		out.Find("ACC024", evidence.Likely, evidence.Fact("%s", machine.LibrariesUnread)).
			Says("%s: what torch would load, and whether it imports, cannot be told", machine.LibrariesUnread).As(evidence.Error)
	case a.Files > 0 && a.Files < least(e.Limit("open-files")) || unread:
		out.Find("ACC024", evidence.Proven, evidence.Fact("RLIMIT_NOFILE is %d", a.Files)).
			Says("a process of this shell may open %d files: too few for CUDA, which then calls the GPU busy or unavailable, and too few to look at torch's libraries here",
				a.Files).As(evidence.Error)
	case a.Files > 0 && a.Files < 1024:
		out.Find("ACC024", evidence.Hint, evidence.Fact("RLIMIT_NOFILE is %d", a.Files)).
			Says("a process of this shell may open %d files: too few for the workers of a DataLoader (too many open files)", a.Files)
	}
	if a.Locked > 0 && a.Locked < 1<<30 {
		out.Find("MG011", evidence.Hint, evidence.Fact("RLIMIT_MEMLOCK is %d MiB, and there is InfiniBand", a.Locked>>20))
	}
}

// bareTorch: Python imports it, and no installer knows it.
func bareTorch(e *evidence.Evidence, out *evidence.Findings) {
	if e.Files.Bare == "" {
		return
	}
	out.Find("PY014", evidence.Hint).
		Says("torch %s is in %s and works, and its dist-info is gone, or empty: pip and uv do not know it, and would install another over it",
			e.Files.Bare, e.Files.Dir).
		Do("`pip install --force-reinstall --no-deps {torch-here}` brings it").
		Mends(e.Repair().Rebuild(slices.Concat(e.Files.Sites, []string{""})[0] + "/torch")).
		As(evidence.Warning)
}
