package evidence

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// named are the facts that are no field; zero where it is not so.
var named = map[string]func(r *row, of []string) any{
	"message":   func(r *row, of []string) any { return saidAt(r.e.Has(of...)) },
	"raised-by": func(r *row, of []string) any { return cmp.Or(r.e.Hit(of[0]), &read.Hit{}).Of },
	"left-behind": func(r *row, of []string) any { // by a CUDA that a message names: that, the last branch, the GPU
		wants := cmp.Or(r.e.Hit(of[0]), &read.Hit{}).Captures[of[1]]
		if g, a := r.e.Driver().LeftBehind(r.e.Driver().Floor(Dotted(wants))); g != nil {
			return fmt.Sprint(wants, " ", a.LastBranch, " ", NameOf(*g))
		}
		return ""
	},
	"no-device":   func(r *row, _ []string) any { return saidAt(r.e.Has(r.e.Limit("no-device").Values...)) },
	"wsl-trouble": func(r *row, _ []string) any { return saidAt(r.e.Has(r.e.Limit("wsl-trouble").Values...)) },
	"old-gpu": func(r *row, _ []string) any {
		if old := r.e.GPU().AllBefore(r.e.LimitSM("turing", 0)); old != nil {
			return NameOf(*old)
		}
		return ""
	},
	"kernel-built": func(r *row, _ []string) any {
		return slices.Concat([]string{""}, r.e.Place.Kernels.Built)[len(r.e.Place.Kernels.Built)]
	},
	"none":   func(r *row, of []string) any { return saidAt(r.e.None(of...)) },
	"unseen": func(r *row, _ []string) any { return saidAt(r.e.Unseen()) },
	"clue":   func(r *row, of []string) any { return r.e.Clue(of[0]) },
	"package": func(r *row, of []string) any {
		p, _ := xslices.Find(r.e.Packages, func(p read.Package) bool { return p.Name == of[0] })
		return p
	},
	"floor": func(r *row, of []string) any { return r.e.Driver().Floor(Dotted(r.e.Limit(of[0]).Value)) },
	"unfound": func(r *row, _ []string) any {
		if h := r.e.Wanted().Unfound(); h != nil {
			return h.At
		}
		return false
	},
	"item":          func(r *row, _ []string) any { return r.item },
	"limit":         func(r *row, of []string) any { return r.e.Limit(of[0]).Values },
	"decision":      func(r *row, _ []string) any { return r.e.Fit.Here().Decision },
	"found":         func(r *row, of []string) any { return len(r.found.Of(of...)) > 0 },
	"quiet":         func(r *row, _ []string) any { return r.found.Quiet() },
	"visible":       func(r *row, _ []string) any { return len(r.e.GPU().Visible()) > 0 },
	"sees-gpu":      func(r *row, _ []string) any { return r.e.Torch.SeesGPU() },
	"sees-none":     func(r *row, _ []string) any { return r.e.Torch.SeesNone() },
	"cpu-by-choice": func(r *row, _ []string) any { return r.e.CPUByChoice() },
	"torch-says":    func(r *row, _ []string) any { return r.e.Torch.Rank == ByTorch },
	"torch-named":   func(r *row, _ []string) any { return r.e.Torch.Named() },
	"index-label":   func(r *row, _ []string) any { return r.e.Wanted().Label() },
	"gpu-name":      func(r *row, _ []string) any { g, _ := r.item.(machine.GPU); return NameOf(g) },
	"host":          func(r *row, _ []string) any { host, _ := r.e.Machine.Lent(); return host },
	"host-way":      func(r *row, _ []string) any { _, way := r.e.Machine.Lent(); return way },
	"asked-by-compose": func(r *row, _ []string) any {
		return slices.ContainsFunc(r.e.Containers.Workloads, func(w *read.Workload) bool { return w.Kind == "compose" && (w.Asks != "" || w.Wants && w.GPUCap) })
	},
	"errors": func(r *row, _ []string) any {
		return r.found.Any(func(f *Finding) bool { return f.Severity == know.Error })
	},
	"in-job": func(r *row, of []string) any { return r.e.Machine.InJob(strings.Join(of, " ")) },
	"gpu-memory": func(r *row, _ []string) any {
		memory := int64(0)
		for _, g := range r.e.GPU().Visible() {
			memory += g.MemoryBytes
		}
		return memory
	},
	"shared-memory-full": func(r *row, _ []string) any {
		s := cmp.Or(r.e.Around.SharedMem, &machine.SharedMem{})
		return s.Size > 0 && s.Free < s.Size/50
	},
	"amd-nodes": func(r *row, _ []string) any {
		return slices.ContainsFunc(r.e.Around.Nodes, func(n machine.DeviceNode) bool {
			return strings.HasPrefix(n.Path, "/dev/kfd") || strings.HasPrefix(n.Path, "/dev/dri")
		})
	},
	"first-node": func(r *row, of []string) any { return r.nodes(of[0])[0] },
	"nodes":      func(r *row, of []string) any { return strings.Join(r.nodes(of[0]), " ") },
	"nodes-few": func(r *row, of []string) any {
		list := r.nodes(of[0])
		return strings.Join(list[:min(3, len(list))], ", ")
	},
	"home-elsewhere": func(r *row, _ []string) any {
		v, _, _ := strings.Cut(r.e.Machine.Env["PYTHONHOME"], ":")
		return v != "" && (r.e.Files.Base != "" || path.Clean(v) != path.Clean(r.e.Files.Dir)) // with it no pyvenv.cfg is read (getpath.py)
	},
	"python-link": func(r *row, _ []string) any {
		f := r.e.Files
		switch {
		case slices.Contains([]string{machine.PythonAbsent, machine.PythonBarred}, f.Python):
			return Fact("%s/bin/python", f.Dir)
		case f.Base == "":
			return Fact("%s", f.Dir)
		}
		return Fact("%s/bin/python leads to %s", f.Dir, f.Base)
	},
	"origins":           func(r *row, _ []string) any { return FromOrigins(r.link().Origins, r.link().Entry) },
	"plain-symbol":      func(r *row, _ []string) any { return plainSymbol(r.link().Symbol) },
	"whose":             func(r *row, _ []string) any { return cmp.Or(r.link().Dist, path.Base(r.link().By)) },
	"python-minor":      func(r *row, _ []string) any { return minorOfSites(r.e.Files.Sites) },
	"python-minor-flag": func(r *row, _ []string) any { return say.With("--python ", minorOfSites(r.e.Files.Sites), " ") },
	"python-program":    func(r *row, _ []string) any { return path.Join(r.e.Files.Base, "python"+minorOfSites(r.e.Files.Sites)) },
	"python-active":     func(r *row, _ []string) any { return r.e.Python().Active() },
	"conda-again":       func(r *row, _ []string) any { return r.e.Conda().Here("install --force-reinstall") },
	"driver-fits": func(r *row, _ []string) any {
		floor, d := r.e.Driver().Floor(r.e.Torch.CUDA), r.e.Machine.Driver
		return d != nil && !d.Version.IsZero() && !floor.IsZero() && !d.Version.Less(floor)
	},
}

// shapes are what can be told of another fact.
var shapes = []string{"again", "base", "first", "beyond", "MiB", "GiB", "place", "quoted"}

// shaped is a fact as a text has it: how many there are beyond the first, bytes as MiB, a place
// as file and line with another fact behind it, a word as a shell reads it, with what is to
// follow in it.
func (r *row) shaped(how, name string, follows []string) any {
	facts := r.facts(name, nil)
	if len(facts) == 0 {
		return ""
	}
	bytes, _ := facts[0].(int64)
	at, _ := facts[0].(machine.Origin)
	switch how {
	case "again":
		return r.e.Repair().Again(wordsOf(facts[0]))
	case "base":
		return path.Base(wordsOf(facts[0]))
	case "beyond":
		return len(facts) - 1
	case "MiB":
		return bytes >> 20
	case "GiB":
		return bytes >> 30
	case "place":
		said := at.Place()
		for _, other := range follows {
			said = strings.TrimSpace(said + " " + r.filled("{"+other+"}"))
		}
		return said
	case "quoted":
		return text.Command(wordsOf(facts[0]) + strings.Join(follows, ""))
	}
	return facts[0]
}

// link is the item, where it is what the loader refuses.
func (r *row) link() machine.LinkFault {
	l, _ := r.item.(machine.LinkFault)
	return l
}

// nodes are the device files that are in a state.
func (r *row) nodes(state string) []string {
	of := xslices.Filter(r.e.Around.Nodes, func(n machine.DeviceNode) bool { return n.Is == state })
	return text.Each(of, func(n machine.DeviceNode) string { return n.Path })
}

// minorOfSites is the Python that directories of packages are for: 3.11.
func minorOfSites(sites []string) (minor string) {
	for _, s := range sites {
		if _, v, ok := strings.Cut(s, "/lib/python"); ok {
			minor, _, _ = strings.Cut(v, "/")
		}
	}
	return minor
}

// plainSymbol is the C++ name of a symbol, as far as it is one of names alone:
// _ZN3c104cuda9SetDeviceEi is c10::cuda::SetDevice. "": it is none, or more.
// Source: the Itanium C++ ABI, 5.1.
func plainSymbol(s string) string {
	rest, ok := strings.CutPrefix(s, "_ZN")
	rest = strings.TrimPrefix(rest, "K")
	var names []string
	for ok && rest != "" && rest[0] >= '1' && rest[0] <= '9' {
		n := 0
		for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			n, rest = 10*n+int(rest[0]-'0'), rest[1:]
		}
		if n > len(rest) {
			return ""
		}
		names, rest = append(names, rest[:n]), rest[n:]
	}
	return strings.Join(names, "::")
}
