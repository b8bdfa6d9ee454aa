package probe

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/near"
	"envfix/internal/text"
)

// tracked are the variables whose setting is looked for.
var tracked = lazy.Regexp("^(?:" + machine.OneValue + ")$")

// variables reads what is set of them, and where: in this shell, or by a file that every
// Python of the environment runs when it starts.
func (h *host) variables(sites []string) []machine.Variable {
	var out []machine.Variable
	from := &origins{h: h}
	for name, value := range h.env {
		if tracked().MatchString(name) && !envSecret().MatchString(name) && len(value) < 4096 {
			out = append(out, machine.Variable{Name: name, Value: Redact(value), Origins: from.ofValue(name, value)})
		}
	}
	slices.SortFunc(out, func(a, b machine.Variable) int { return strings.Compare(a.Name, b.Name) })
	return append(out, h.atStart(sites)...)
}

// A line of Python that sets a variable whatever happens: it is not indented.
var environLine = lazy.Regexp(`(?m)(?:^|^import [\w, ]+; *)os\.(?:environ\[ *["'](\w+)["'] *\] *= *|putenv\( *["'](\w+)["'] *, *|environ\.setdefault\( *["'](\w+)["'] *, *)["']([^"'\n]*)["']`)

// atStart reads what sitecustomize, usercustomize and the .pth files set (the module site
// of Python's library).
func (h *host) atStart(sites []string) []machine.Variable {
	var out []machine.Variable
	for _, file := range h.startFiles(sites) {
		code := h.bytes(file, 256<<10)
		for _, a := range environSets(code) {
			if _, set := h.env[a.variable]; !tracked().MatchString(a.variable) || set && a.text != "" {
				continue
			}
			at := machine.Origin{Kind: machine.OriginPython, File: text.Printable(file), Line: a.line}
			out = append(out, machine.Variable{Name: a.variable, Value: Redact(a.value), AtStart: true, Origins: []machine.Origin{at}})
		}
	}
	return out
}

// environSets are the variables that code of Python sets; text is what sets one that has no
// value alone.
func environSets(code []byte) []assignment {
	var out []assignment
	for _, m := range environLine().FindAllSubmatchIndex(code, 20) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text.Printable(string(code[m[2*i]:m[2*i+1]]))
		}
		out = append(out, assignment{variable: group(1) + group(2) + group(3), value: group(4), text: group(3), line: 1 + bytes.Count(code[:m[0]], []byte("\n"))})
	}
	return out
}

// ofValue returns where a variable gets a value, the most particular place first.
func (o *origins) ofValue(variable, value string) []machine.Origin {
	var out []machine.Origin
	for _, l := range o.read(variable) {
		at := machine.Origin{Kind: l.kind, Name: text.Printable(l.name), File: text.Printable(l.file), Line: l.line}
		if l.value == value && len(out) < 8 && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	if at := o.h.ownState(variable, func(v string, set bool) bool { return set && v == value }); len(out) == 0 && at.Kind != "" {
		out = append(out, at)
	}
	return out
}

// allocOptions are those that a variable names and the torch at a path does not know: the
// names of its options are texts in its libraries.
func (h *host) allocOptions(torch string) []machine.BadOption {
	var out []machine.BadOption
	var libraries []byte
	for _, name := range []string{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"} {
		value := h.env[name]
		if value == "" {
			continue
		}
		if libraries == nil {
			libraries = append(h.bytes(torch+"/lib/libc10_cuda.so", maxFile), h.bytes(torch+"/lib/libc10.so", maxFile)...)
		}
		known := func(option string) bool { return bytes.Contains(libraries, []byte("\x00"+option+"\x00")) }
		if !known("max_split_size_mb") {
			return nil // another torch, whose options are not to be seen so
		}
		depth := 0
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { // commas within brackets are of a list
			depth += boolInt(r == '[') - boolInt(r == ']')
			return r == ',' && depth == 0
		}) {
			option, setting, pair := strings.Cut(strings.TrimSpace(part), ":")
			switch {
			case !pair || setting == "":
				out = append(out, machine.BadOption{Variable: name, Option: text.Printable(part)})
			case allocValues[option].fits != nil && !allocValues[option].fits().MatchString(setting):
				out = append(out, machine.BadOption{Variable: name, Option: text.Printable(option), Value: text.Printable(setting), Wants: allocValues[option].words})
			case !known(option):
				out = append(out, machine.BadOption{Variable: name, Option: text.Printable(option), Near: nearOption(option, known)})
			}
		}
	}
	return out
}

// allocValues are what torch takes of options that have few values, and in words: it raises
// at any other (c10/cuda/CUDAAllocatorConfig.cpp).
var allocValues = map[string]struct {
	fits  func() *regexp.Regexp
	words string
}{
	"backend":                      {lazy.Regexp(`^(?:native|cudaMallocAsync)$`), "native or cudaMallocAsync"},
	"expandable_segments":          {lazy.Regexp(`^(?:True|False)$`), "True or False"},
	"release_lock_on_cudamalloc":   {lazy.Regexp(`^(?:True|False)$`), "True or False"},
	"garbage_collection_threshold": {lazy.Regexp(`^0?\.\d*[1-9]\d*$`), "more than 0 and less than 1"},
	"max_split_size_mb":            {lazy.Regexp(`^(?:2[1-9]|[3-9]\d|[1-9]\d\d+)$`), "more than 20"},
}

// allocNames are the options that releases of torch have had.
var allocNames = strings.Fields(`backend expandable_segments garbage_collection_threshold graph_capture_record_stream_reuse max_non_split_rounding_mb
	max_split_size_mb per_process_memory_fraction pinned_num_register_threads pinned_use_background_threads pinned_use_cuda_host_register
	release_lock_on_cudamalloc roundup_bypass_threshold_mb roundup_power2_divisions`)

// nearOption is the option that was meant, as far as it can be told; "" it cannot.
func nearOption(option string, known func(string) bool) string {
	name := slices.MinFunc(allocNames, func(a, b string) int { return near.Distance(a, option) - near.Distance(b, option) })
	if near.Distance(name, option) > 3 || !known(name) {
		return ""
	}
	return name
}

// shadows are files of the project, or of PYTHONPATH, that Python would import in place of
// a module of its library, or of a package, that torch imports.
func (h *host) shadows(dir string, e Env) []machine.ImportPlace {
	wanted := map[string]bool{}
	for _, d := range e.Dists {
		wanted[strings.ReplaceAll(d.Name, "-", "_")] = false
	}
	for name := range needs(e.Dists, "torch") {
		wanted[strings.ReplaceAll(name, "-", "_")] = true
	}
	wanted["numpy"], wanted["torch"] = true, false // torch itself is told apart
	for _, name := range stdlibOfTorch {
		wanted[name] = true
	}
	var out []machine.ImportPlace
	from := &origins{h: h}
	look := func(dir, place string) {
		if !path.IsAbs(dir) || slices.Contains(e.Sites, path.Clean(dir)) {
			return
		}
		for _, name := range h.unsorted(dir) {
			stem, module := strings.CutSuffix(name, ".py")
			if !wanted[stem] {
				continue
			}
			file := path.Join(dir, name)
			if !module {
				file += "/__init__.py"
			}
			if !h.exists(file) || len(out) == maxNamed {
				continue
			}
			p := machine.ImportPlace{Path: text.Printable(file), Place: place}
			if place == machine.InPythonPath {
				p.Origins = from.of(place, dir)
			}
			beside := h.dists([]string{dir})
			if i := slices.IndexFunc(beside, func(d Dist) bool { return strings.ReplaceAll(d.Name, "-", "_") == stem }); i >= 0 {
				p.Version = beside[i].Version
			}
			if !module {
				p.Tag = builtFor(h, path.Dir(file), "cpython-"+strings.ReplaceAll(e.minor(), ".", ""))
			}
			out = append(out, p)
		}
	}
	look(dir, machine.InWorkingDir)
	for d := range strings.SplitSeq(h.env["PYTHONPATH"], ":") {
		look(d, machine.InPythonPath)
	}
	return out
}

// builtFor is the tag of the Python that the modules in a package are compiled for, where none
// is for the one that is meant; "" no such.
func builtFor(h *host, dir, tag string) (other string) {
	for _, sub := range append(h.names(dir), "") {
		for _, name := range h.names(path.Join(dir, sub)) {
			switch m := compiledTag().FindStringSubmatch(name); {
			case m != nil && m[1] == tag:
				return ""
			case m != nil:
				other = m[1]
			}
		}
	}
	return other
}

var compiledTag = lazy.Regexp(`\.(cpython-3\d+)t?-[^.]*\.so$`)

// stdlibOfTorch are the modules of Python's library, neither built in nor frozen, that
// importing torch 2.2.2 and 2.15.0 loads beyond what Python loads to start (sys.modules of
// Python 3.11).
var stdlibOfTorch = strings.Fields(`argparse ast asyncio base64 bdb bisect bz2 calendar cmd code codeop collections concurrent
	contextlib contextvars copy copyreg csv ctypes dataclasses datetime difflib dis email enum fnmatch functools gettext glob graphlib
	gzip hashlib heapq hmac http importlib inspect ipaddress json keyword linecache locale logging lzma multiprocessing numbers opcode
	operator pathlib pdb pickle pickletools pkgutil platform pprint queue quopri random re reprlib secrets selectors shutil signal
	socket ssl string struct subprocess sysconfig tarfile tempfile textwrap threading timeit token tokenize traceback types typing
	unittest urllib uuid warnings weakref zipfile`)
