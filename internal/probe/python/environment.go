package python

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// An Env is a Python environment on disk, read without starting Python.
type Env struct {
	Dir    string
	Python machine.Python // Path "": there is no interpreter
	Base   string         // directory of the interpreter that it was made from; "" none
	System bool           // it also sees the packages of that interpreter
	Sites  []string       // its directories of packages, and those that their .pth files add
	First  []pathEntry    // what a file that Python runs when it starts puts before them
	Gone   []pathEntry    // what a .pth file names that is not there
	Starts []machine.StartFault
	Dists  []Dist        // sorted by name
	Conda  []CondaRecord // what conda installed, Python packages or not
}

// A Dist is one installed distribution, as its dist-info says.
type Dist struct {
	machine.Package
	HIP  *string // what torch/version.py says; nil where it says none
	Info string  // its dist-info directory

	Needs  []string // every line of Requires-Dist
	Python string   // what Requires-Python says
	Listed string   // the version that the metadata says
	Whole  bool     // the metadata has a name and a version
	Module string   // torch: the version that torch/version.py says; "" unknown
}

// Read reads an environment's directory.
func Read(h *sysroot.Host, dir string) Env {
	e := Env{Dir: dir}
	if p, ok := describe(h, Program(h, dir)); ok {
		e.Python = p
	}
	if cfg := ReadConfig(h, dir); cfg != nil {
		e.Base, e.System = cfg.Home, cfg.System
	}
	e.Sites = ofOne(h, SitePackages(h, dir), minorOf(h, Program(h, dir), e.Python.Version))
	if e.System && e.Base != "" { // in the order of the module site
		e.Sites = append(e.Sites, userSites(h, e.minor())...)
		e.Sites = append(e.Sites, sitesOf(h, path.Dir(e.Base), version.Minor(e.Python.Version))...)
	}
	searchPath(h, &e)
	for _, name := range h.Names(dir + "/conda-meta") {
		if r, ok := ParseCondaRecord(name); ok {
			e.Conda = append(e.Conda, r)
		}
	}
	return e
}

// ReadInterpreter reads what an interpreter sees: its environment, where it is one's, as in
// an image whose PATH begins with the environment that nothing activates.
func ReadInterpreter(h *sysroot.Host, p machine.Python) Env {
	for _, dir := range []string{path.Dir(p.Path), path.Dir(path.Dir(p.Path))} { // conda on Windows; all others
		if IsEnv(h, dir) {
			return Read(h, dir)
		}
	}
	return readPrefix(h, p)
}

// readPrefix reads what an interpreter that belongs to no environment sees.
func readPrefix(h *sysroot.Host, p machine.Python) Env {
	prefix := path.Dir(path.Dir(h.Resolved(p.Path)))
	e := Env{Dir: prefix, Python: p}
	minor := version.Minor(p.Version)
	e.Sites = append(userSites(h, minor), sitesOf(h, prefix, minor)...)
	searchPath(h, &e)
	return e
}

// userSites is where `pip install --user` puts packages (PEP 370), where Python looks.
func userSites(h *sysroot.Host, minor string) []string {
	if h.Home == "" || h.Env["PYTHONNOUSERSITE"] != "" {
		return nil
	}
	base := cmp.Or(h.Env["PYTHONUSERBASE"], h.Home+"/.local")
	return []string{fromHere(h, base) + "/lib/python" + minor + "/site-packages"}
}

// packages is what facts keep of an environment.
func packages(e Env) []machine.Package {
	return text.Each(e.Dists, func(d Dist) machine.Package { return d.Package })
}

// A Config is what pyvenv.cfg says.
type Config struct {
	Home, version        string
	System, freeThreaded bool
}

// ReadConfig reads dir/pyvenv.cfg; nil: there is none. The standard library writes
// "version = 3.12.4", uv and virtualenv "version_info = 3.12.4.final.0".
func ReadConfig(h *sysroot.Host, dir string) *Config {
	data := h.Bytes(dir+"/pyvenv.cfg", 1<<16)
	if data == nil {
		return nil
	}
	c := &Config{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, "=")
		value = text.Printable(strings.TrimSpace(value))
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "home":
			c.Home = value
			c.freeThreaded = strings.Contains(value, "+freethreaded")
		case "version", "version_info":
			if v := pythonPatch().FindString(value); v != "" {
				c.version = v
			}
		case "include-system-site-packages":
			c.System = strings.EqualFold(value, "true")
		}
	}
	return c
}

// SitePackages lists the package directories of an environment: one Python, so
// whatever minor version is there.
func SitePackages(h *sysroot.Host, dir string) (out []string) {
	if h.OS == "windows" {
		return []string{dir + "/Lib/site-packages"}
	}
	for _, lib := range []string{"lib", "lib64"} {
		if lib == "lib64" && h.Link(dir+"/lib64") == "lib" {
			continue
		}
		for _, name := range h.Names(dir + "/" + lib) {
			if site := dir + "/" + lib + "/" + name + "/site-packages"; pythonMinor().MatchString(name) && (h.IsDir(site) || h.Link(site) != "") {
				out = append(out, site)
			}
		}
	}
	return out
}

// ofOne are the package directories of one minor version, the interpreter's, which alone it looks into; those of others
// where torch is there and not here.
func ofOne(h *sysroot.Host, sites []string, minor string) []string {
	others := xslices.Filter(sites, func(site string) bool { return !strings.Contains(site+"/", "/python"+minor+"/") })
	own := xslices.Filter(sites, func(site string) bool { return !slices.Contains(others, site) })
	return say.Either(len(own) == 0 || HasModule(h, others, "torch") && !HasModule(h, own, "torch"), others, own)
}

// minorOf is the minor version of an interpreter, by the name of its file: pyvenv.cfg says what it was.
func minorOf(h *sysroot.Host, program, said string) string {
	if m := pythonMinor().FindStringSubmatch(path.Base(h.Resolved(program))); m != nil {
		return m[1] + m[2]
	}
	return version.Minor(said)
}

// sitesOf lists the package directories of one minor version below a prefix that
// may hold several, with Debian's own.
func sitesOf(h *sysroot.Host, prefix, minor string) (out []string) {
	for _, dir := range []string{
		prefix + "/lib/python" + minor + "/site-packages", prefix + "/lib64/python" + minor + "/site-packages", prefix + "/lib/python" + minor + "t/site-packages",
		"/usr/local/lib/python" + minor + "/dist-packages", "/usr/local/lib/python" + minor + "/site-packages",
		"/usr/lib/python3/dist-packages", prefix + "/Lib/site-packages",
	} {
		system := prefix == "/usr" || prefix == "/"
		if (system || strings.HasPrefix(dir, prefix+"/lib") || strings.HasPrefix(dir, prefix+"/Lib")) && h.IsDir(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// Infos are what describes distributions in some directories, by how its name may end,
// and what interrupted installations left there.
func Infos(h *sysroot.Host, sites []string, ends ...string) (infos, left []string) {
	for _, site := range sites {
		names := text.Each(entries(h, site), func(file string) string { first, _, _ := strings.Cut(file, "/"); return first })
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			switch {
			case strings.HasPrefix(name, "~"):
				left = append(left, site+"/"+name)
			case slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) }):
				infos = append(infos, site+"/"+name)
			}
		}
	}
	return infos, left
}

// dists reads the distributions of some directories; the first of a name wins,
// as for Python's import. Hundreds of small files: a few readers at once.
func dists(h *sysroot.Host, sites []string) (out []Dist) {
	infos, _ := Infos(h, sites, ".dist-info", ".egg-info")
	seen := map[string]bool{}
	for _, d := range sysroot.Each(infos, func(info string) Dist { return ReadDist(h, info) }) {
		if d.Name != "" && d.Version != "" && !seen[d.Name] { // without a version: the rest of an installation that broke off
			seen[d.Name] = true
			out = append(out, d)
		}
	}
	for _, site := range sites { // torch's package without its dist-info: pip does not know it, Python does
		if d := (Dist{Info: site + "/"}); !seen["torch"] && h.Exists(site+"/torch/version.py") {
			if torchVersion(h, &d); d.Version != "" {
				d.Name, d.Path, d.Info = "torch", site, ""
				out, seen["torch"] = append(out, d), true
			}
		}
	}
	slices.SortFunc(out, func(a, b Dist) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// family begin the requirements that matter: torch, torchvision and their like, and
// what must match them.
var family = lazy.Regexp(`(?i)^(?:torch|triton|pytorch[-_]triton|nvidia[-_.])`)

// ReadDist reads one dist-info (or egg-info) directory. Its name carries name and
// version too, for metadata that cannot be read.
func ReadDist(h *sysroot.Host, info string) Dist {
	d := Dist{Info: info}
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(info), ".dist-info"), ".egg-info")
	name, rest, _ := strings.Cut(stem, "-")
	d.Name = machine.NormalName(text.Printable(name))
	d.Version, _, _ = strings.Cut(text.Printable(rest), "-py")
	d.Path = path.Dir(info)
	d.Whole = d.Metadata(Metadata(h, info))
	d.Listed = d.Version
	if d.Name == "torch" {
		torchVersion(h, &d)
	}
	return d
}

// Installer is who installed a distribution: pip, uv, conda; "" unknown. A file that is a
// link to nothing is uv's, which links into its cache.
func Installer(h *sysroot.Host, info string) string {
	by := text.Printable(strings.TrimSpace(string(h.Bytes(info+"/INSTALLER", 64))))
	return cmp.Or(by, say.If(h.Target(info+"/INSTALLER") != "", "uv"))
}

// Metadata returns the header of a distribution's metadata. Descriptions follow
// it and can be long, so the file is read only as far as needed.
func Metadata(h *sysroot.Host, info string) []byte {
	for _, name := range []string{"/METADATA", "/PKG-INFO", ""} {
		data := h.Bytes(info+name, 8<<10)
		if len(data) == 8<<10 && !bytes.Contains(data, []byte("\n\n")) {
			data = h.Bytes(info+name, 256<<10)
		}
		if data != nil {
			return data
		}
	}
	return nil
}

var headerFields = []string{"name", "version", "requires-dist", "requires-python"} // what [Dist.metadata] takes

// Metadata takes name, version and requirements from the header, which ends at
// the first empty line, and reports whether it has the first two.
func (d *Dist) Metadata(header []byte) bool {
	name, ver := "", ""
	for line := range bytes.Lines(header) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		field, rest, ok := bytes.Cut(line, []byte(": "))
		if !ok || len(rest) > 500 || !slices.ContainsFunc(headerFields, func(f string) bool { return bytes.EqualFold([]byte(f), field) }) {
			continue
		}
		value := text.Printable(string(bytes.TrimSpace(rest)))
		switch strings.ToLower(string(field)) {
		case "name":
			name = cmp.Or(value, name)
		case "version":
			ver = cmp.Or(value, ver)
		case "requires-python":
			d.Python = value
		case "requires-dist":
			if len(d.Needs) < 400 {
				d.Needs = append(d.Needs, value)
			}
			if family().MatchString(value) && len(d.Requires) < 100 {
				d.Requires = append(d.Requires, value)
			}
		}
	}
	d.Name, d.Version = cmp.Or(machine.NormalName(name), d.Name), cmp.Or(ver, d.Version)
	return name != "" && ver != ""
}

var torchFact = lazy.Regexp(`(?m)^(__version__|cuda|hip|xpu)\s*(?::[^=\n]*)?=\s*(?:['"]([^'"\n]{1,60})['"]|None)`)

// torchVersion reads torch/version.py, which knows what the metadata of a wheel
// on the default index does not say: the local label and the CUDA. A build that names
// no CUDA, and nothing in its place, was made without it (conda's CPU builds have no
// label either).
func torchVersion(h *sysroot.Host, d *Dist) {
	none, other := false, false
	for _, m := range torchFact().FindAllStringSubmatch(h.Text(path.Dir(d.Info)+"/torch/version.py"), -1) {
		value := text.Printable(m[2])
		switch {
		case m[1] == "cuda" && value == "":
			none = true
		case value == "":
		case m[1] == "__version__":
			d.Version, d.Module = value, value
		case m[1] == "cuda":
			d.CUDA = &value
		case m[1] == "hip":
			d.HIP, other = &value, true
		case m[1] == "xpu":
			other = true
		}
	}
	if none && !other && d.CUDA == nil {
		d.CUDA = new(string)
	}
}

// Needs are the distributions that some need to be imported, themselves among them.
func Needs(dists []Dist, names ...string) map[string]bool {
	return xslices.Reach(func(name string) []string {
		d, _ := xslices.Find(dists, func(d Dist) bool { return d.Name == name })
		return xslices.Filter(text.Each(d.Needs, RequiredName), func(n string) bool { return n != "" })
	}, names...)
}

// RequiredName is the package that a line of Requires-Dist names; "" where an extra asks.
func RequiredName(line string) string {
	spec, marker, _ := strings.Cut(line, ";")
	if strings.Contains(marker, "extra") {
		return ""
	}
	end := strings.IndexAny(spec, " ([<>=!~@")
	if end < 0 {
		end = len(spec)
	}
	return machine.NormalName(strings.TrimSpace(spec[:end]))
}

// TorchSet are the distributions that torch and its companions consist of.
var TorchSet = lazy.Regexp(`^(torch|torchvision|torchaudio|triton|pytorch-triton|nvidia-.*|cuda-toolkit)$`)
