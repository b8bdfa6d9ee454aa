package evidence

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// A Mend is what of a finding an environment built anew mends, or its activate
// script. The zero Mend: neither does; another plan may, or a person.
type Mend struct {
	Frame   string        // the Python ("3.12") that is put back, with the scripts, into the environment, whose packages stay
	Rebuild bool          // the same packages, installed anew
	Again   []string      // or these alone, where the remedy installs nothing
	Sweep   bool          // or nothing anew: what lies there of an upgrade goes
	Fetch   []string      // of these the installer's cache may be broken too: it links to the same files
	Fixes   []plan.EnvFix // of variables, where the environment is active
}

// IsZero reports whether nothing of the finding is mended so.
func (m Mend) IsZero() bool { return !m.Rebuild && !m.Sweep && len(m.Fixes) == 0 && m.Frame == "" }

// And is what mends either; whether that was enough, the next examination says.
func (m Mend) And(o Mend) Mend {
	return Mend{
		Frame: cmp.Or(m.Frame, o.Frame), Rebuild: m.Rebuild || o.Rebuild, Again: xslices.Once(m.Again, o.Again), Fetch: slices.Concat(m.Fetch, o.Fetch),
		Fixes: slices.Concat(m.Fixes, o.Fixes), Sweep: m.Sweep || o.Sweep,
	}
}

// Rebuild is the Mend of a file of the environment that was examined; what lies
// elsewhere (the user's site-packages, PYTHONPATH) no new environment mends.
func (e Repair) Rebuild(file string) Mend {
	if e.Pasted || e.Files == nil || !slices.ContainsFunc(e.Files.Sites,
		func(s string) bool { return strings.HasPrefix(file, s+"/") }) {
		return Mend{}
	}
	return Mend{Rebuild: true}
}

// Without is the Mend that takes an entry out of a variable.
func (e Repair) Without(variable, entry, why string) Mend {
	if e.Pasted || entry == "" {
		return Mend{}
	}
	f := plan.EnvFix{Variable: variable, Action: "remove", Value: entry, Why: why}
	for _, d := range e.Machine.LibraryDirs {
		if variable == "LD_LIBRARY_PATH" && d.Path == entry {
			f.From = d.From
		}
	}
	return Mend{Fixes: []plan.EnvFix{f}}
}

// Set is the Mend that gives a variable a value.
func (e Repair) Set(variable, value, why string) Mend {
	return Mend{Fixes: []plan.EnvFix{{Variable: variable, Action: "set", Value: value, Why: why}}}
}

// EntryOf is the entry of a list of directories that names dir, as it stands there: it may
// lead from where one stands.
func EntryOf(list, dir string) string {
	for entry := range strings.SplitSeq(list, ":") {
		if at := path.Clean(entry); entry != "" && (at == dir || !path.IsAbs(at) && strings.HasSuffix(dir, "/"+at)) {
			return entry
		}
	}
	return ""
}

// IndexOf is the flag that names PyTorch's index, where a package asked for by its label is
// on no other.
func IndexOf(specs []string) string {
	for _, s := range specs {
		if _, label := version.SplitLocal(s); ofIndex().MatchString(label) && strings.HasPrefix(s, "torch") {
			return " --index-url https://download.pytorch.org/whl/" + label
		}
	}
	return ""
}

// ofIndex matches the labels that PyTorch publishes builds under; others are of who compiled.
var ofIndex = lazy.Regexp(`^(?:cu\d+|cpu|xpu|rocm[\d.]+)$`)

// Again is a package that is here, as an installer is asked for it.
func (e Repair) Again(name string) string {
	for _, d := range e.dists() {
		if d.Name == name {
			spec := name + "==" + d.Version
			return spec + IndexOf([]string{spec})
		}
	}
	return name
}

// TorchAgain is the torch that is here, as an installer is asked for it; of one that
// somebody compiled, the release that it is nearest to.
func (e Repair) TorchAgain() string {
	if p := e.Conda().PipPackage("torch"); p != nil {
		for _, d := range e.dists() {
			if d.Name == p.Name {
				p = &read.Package{Version: d.Version} // with the label that an index has it by
			}
		}
		if public, label := version.SplitLocal(p.Version); label != "" && !ofIndex().MatchString(label) {
			public, _, _ = strings.Cut(public, "a0")
			return "torch==" + public
		}
		return "torch==" + p.Version + IndexOf([]string{"torch==" + p.Version})
	}
	return "torch"
}

func (e Repair) dists() []machine.DistFiles {
	if e.Files == nil {
		return nil
	}
	return e.Files.Dists
}
