package read

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

var separators = lazy.Regexp(`[-_.]+`)

func normal(name string) string { return separators().ReplaceAllString(strings.ToLower(name), "-") }

func (r *Reader) packageRow(m []string, s Evidence) {
	p := Package{Name: normal(m[2]), Version: m[4], Build: m[5], Channel: m[6], Tool: "pip", At: s}
	switch {
	case strings.EqualFold(m[1], "conda"), p.Build != "" && p.Channel != "", buildString().MatchString(p.Build):
		p.Tool = "conda"
	case m[1] == "" && p.Build != "" && !strings.HasPrefix(p.Build, "/"):
		return // prose
	}
	if strings.HasPrefix(p.Build, "pypi") {
		p.Channel = "pypi"
	}
	r.addPackage(p)
}

// buildString matches conda's: py310_cuda11.8_cudnn8.7.0_0, cpu_generic_py312_….
var buildString = lazy.Regexp(`(?i)^\w*(py\d|cpu|cuda|cudnn|pypi)\w*[._]\S*$`)

// byPip notes a package that pip, or one like it, names.
func byPip(r *Reader, name, v string, s Evidence) {
	r.addPackage(Package{Name: normal(name), Version: v, Tool: "pip", At: s})
}

// foundExisting takes a package that pip is about to replace.
func foundExisting(r *Reader, m []string, s Evidence) {
	taken := strings.Contains(r.prev, "Attempting uninstall")
	if taken && strings.EqualFold(m[1], "torch") {
		r.uninstalled, r.uninstalledAt = m[2], s
	}
	if !taken {
		byPip(r, m[1], m[2], s)
	}
}

// installed takes what pip installed, all in one line.
func installed(r *Reader, list string, s Evidence) {
	for f := range strings.FieldsSeq(list) {
		if i := strings.LastIndexByte(f, '-'); i > 0 && i+1 < len(f) && f[i+1] >= '0' && f[i+1] <= '9' {
			byPip(r, f[:i], f[i+1:], s)
			if f[:i] == "torch" && r.uninstalled != "" && r.uninstalled != f[i+1:] {
				r.c.Replaced = Replacement{From: r.uninstalled, To: f[i+1:], At: r.uninstalledAt}
			}
		}
	}
}

func (c *Case) library(name, file string, s Evidence) {
	c.Libraries = append(c.Libraries, Library{Name: name, Path: file, At: s})
}

func (r *Reader) addPackage(p Package) {
	if len(r.c.Packages) < 2000 {
		r.c.Packages = append(r.c.Packages, p)
	}
	switch {
	case p.Name == "torch" && p.Channel == "pypi" && r.c.Installed("pytorch") != nil:
	case p.Name == "torch":
		if !strings.Contains(strings.ToLower(p.At.Text), "works") {
			r.torch(p.Version, ByList, p.At)
		}
	case p.Name == "pytorch" && p.Tool == "conda":
		condaTorch(r, p)
	}
}

// condaTorch takes what conda's build string says of the build.
func condaTorch(r *Reader, p Package) {
	if r.c.Torch.Rank <= ByList || r.c.Torch.CUDA.IsZero() && !r.c.Torch.NoCUDA {
		if r.c.Torch.Rank < ByList {
			r.torch(p.Version, ByList, p.At)
		}
		switch m := condaCUDA().FindStringSubmatch(p.Build); {
		case strings.Contains(p.Build, "cpu"):
			r.c.Torch.NoCUDA, r.c.Torch.CUDAAt = true, p.At
		case m != nil && r.c.Torch.CUDA.IsZero():
			v := m[1]
			if !strings.Contains(v, ".") && len(v) > 2 {
				v = v[:len(v)-1] + "." + v[len(v)-1:]
			}
			r.torchCUDA(v, p.At)
		}
	}
}

var condaCUDA = lazy.Regexp(`cuda_?(\d+(?:\.\d+)?)`)

var kernelRelease = lazy.Regexp(`^\d+\.\d+\.\d\S*$`)

func (r *Reader) variable(name, value string, s Evidence) {
	value, _, _ = strings.Cut(strings.TrimSpace(value), " #")
	if names := strings.Split(name, ","); len(names) > 1 {
		if values := strings.Fields(value); len(values) == len(names) {
			for i := range names {
				r.variable(names[i], values[i], s)
			}
		}
		return
	}
	if name != "-" && !r.ofTorch(name, value, s) {
		r.exported(name, value, s)
	}
}

// ofTorch takes the answers to what people ask torch and Python; false for a name that
// is none of them.
func (r *Reader) ofTorch(name, value string, s Evidence) bool {
	switch bare := strings.Trim(value, `'" `); name {
	case "is_available":
		bare = answerVerb().ReplaceAllString(strings.TrimLeft(bare, "#>=-→ "), "")
		bare, _, _ = strings.Cut(bare, " ") // "# False", and more words
		bare = strings.TrimRight(bare, ".,;:")
		if strings.EqualFold(bare, "True") || strings.EqualFold(bare, "False") {
			r.available(bare, s)
		}
	case "torch.version.cuda", "torch.version.hip", "torch.__version__":
		versionOf(r, name, bare, s)
	case "module":
		r.loaded(bare, s)
	case "uname":
		if k := &r.c.Place.Kernels; kernelRelease().MatchString(bare) && k.Running == "" {
			k.Running, k.RunningAt = bare, s
		}
	case "bits":
		if bare == "32" {
			r.thirtyTwo(s)
		}
	case "sys.executable":
		if m := pythonFile().FindString(value); m != "" {
			r.interpreter(m, s)
		}
	default:
		return false
	}
	return true
}

// versionOf takes a version that torch says of itself.
func versionOf(r *Reader, name, bare string, s Evidence) {
	switch {
	case name == "torch.version.cuda" && (bare == "None" || bare != "" && strings.Trim(bare, "0123456789.") == ""):
		r.torchCUDA(bare, s)
	case name == "torch.version.hip" && hipVersion().MatchString(bare):
		r.c.Torch.HIP, r.c.Torch.NoCUDA = bare, false
	case name == "torch.__version__" && torchVersion().MatchString(bare):
		r.torch(bare, ByTorch, s)
	}
}

// exported takes a variable of the environment.
func (r *Reader) exported(name, value string, s Evidence) {
	if name != "PYTHONPATH" {
		value, _, _ = strings.Cut(value, " ")
	}
	value = strings.TrimRight(value, ";,.")
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	lower := strings.ToLower(value)
	for _, w := range []string{
		"unset", "not set", "none set", "differs", "has no", "<not", "none", "(unset", "(not", "no ",
	} {
		if strings.HasPrefix(lower, w) {
			return
		}
	}
	r.set(name, value, s)
}

var pythonFile = lazy.Regexp("(?i)" + pythonPath)

// hipVersion is what torch.version.hip holds: "6.1.40091-a8dbc0c19".
var hipVersion = lazy.Regexp(`^\d+\.\d+(?:\.\d+)?\S*$`)

var torchVersion = lazy.Regexp(`^\d\.\d+\.\d+[\w.+]*$`)

// installed returns the first package of a name.
func (c *Case) Installed(name string) *Package {
	return xslices.At(c.Packages, func(p Package) bool { return p.Name == name })
}

// answerVerb begins a line that people write below a call: "return False".
var answerVerb = lazy.Regexp(`(?i)^(?:it |this |that )?(?:returns?|returned|prints?|gives?|says?|shows?|output(?:s|:)?|result:?|is) `)
