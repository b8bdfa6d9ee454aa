package installers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// torchsOwn are what torch itself needs besides NVIDIA's libraries, in every
// release since 2.0 (its Requires-Dist, and theirs). They stay as they are unless
// a new torch needs another version of one.
var torchsOwn = []string{"filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "setuptools", "sympy", "typing-extensions"}

// A keeper decides what becomes of each package of the environment that is
// replaced.
type keeper struct {
	b         *builder
	held      *machine.Held
	conflicts func(name, ver string) (why string, known bool)
	was       map[string]machine.HeldDist
	stays     map[string]bool
	leaves    map[string]dropped
	want      []string // that a package which stays needs, in a version that the installer finds
	known     []plan.Complaint
}

// A dropped is why a package is not carried over. again says that a version of it
// may be had where another package needs one: it is the torch that does not fit,
// not its source that is gone.
type dropped struct {
	why   string
	again bool
}

// carry says what becomes of the other packages of the environment that the plan
// replaces; nil where it replaces none.
func (b *builder) keep() *plan.Keep {
	if b.t.Held == nil {
		b.leftBehind()
		return nil
	}
	c := &keeper{b: b, held: b.t.Held, was: map[string]machine.HeldDist{}, stays: map[string]bool{}, leaves: map[string]dropped{}}
	for _, d := range c.held.Dists {
		c.was[d.Name] = d
	}
	out := &plan.Keep{From: b.t.Dir, Why: b.keepNothing(len(c.held.Dists))}
	if out.Why != "" {
		return out
	}
	c.conflicts = resolver.Conflicts(b.m, b.h, b.choice)
	c.sort(out)
	for c.settle() {
	}
	c.fill(out)
	b.want = c.want
	if !c.held.Files && len(out.Stays) > 0 {
		b.warn(
			"the packages of %s are known by name and version alone, as from a file of facts: which came from a path or an address, only the machine itself can tell",
			b.t.Dir,
		)
	}
	if c.held.System {
		b.warn("%s also sees the packages of the Python that it was made from; the new environment does not", b.t.Dir)
	}
	return out
}

// keepNothing says why no package is carried over, "" where they are.
func (b *builder) keepNothing(n int) string {
	by, leaves := byManager[b.t.Manager].(leaver)
	switch {
	case b.t.InPlace:
		return "it is changed in place: its other packages stay as they are"
	case leaves:
		return by.leavesAll(b, n)
	case b.t.Listed != "":
		return fmt.Sprintf("%s lists all that it is to hold, with hashes: nothing else is carried over", b.t.Listed)
	case b.t.Fresh:
		return fmt.Sprintf("`--fresh`: the %d packages that it holds are left behind", n)
	}
	return ""
}

// leavesOut reports whether something is there that is not wanted any more, and names
// what cannot be left out because it is not there.
func (b *builder) leavesOut() bool {
	there := cmp.Or(b.t.Held, &machine.Held{})
	asked := pep508.Names(b.r.Requirements)
	less := false
	for _, name := range b.t.Drop {
		switch {
		case slices.Contains(asked, name):
			b.warn("`--drop %s` drops nothing: it is asked for; `envfix remove %s` takes it out", name, name)
		case slices.ContainsFunc(there.Dists, func(d machine.HeldDist) bool { return d.Name == name }):
			less = true
		default:
			b.warn("`--drop %s` drops nothing: it is not in %s", name, b.t.Dir)
		}
	}
	wanted := needs(there, slices.Concat(family, []string{"pip"}, asked))
	return less || b.t.Fresh && slices.ContainsFunc(there.Dists, func(d machine.HeldDist) bool { return !wanted[d.Name] })
}

// sort puts every package where its own properties put it.
func (c *keeper) sort(out *plan.Keep) {
	_, seeded := byManager[c.b.t.Manager].(pip)
	for _, d := range c.held.Dists {
		to, chosen := becomes(c.b.choice, d.Name)
		switch {
		case chosen:
			if d.Version != to || to == "" {
				out.Changes = append(out.Changes, plan.Change{Name: d.Name, From: d.Version, To: to})
			}
		case slices.Contains(resolver.Companions(), d.Name):
			c.leaves[d.Name] = dropped{why: "none goes with torch " + c.b.choice.Torch}
		case pep508.Asks(c.b.r.Requirements, d.Name):
			out.Changes = append(out.Changes, plan.Change{Name: d.Name, From: d.Version, Why: "as you asked for it"})
		case torchsLibrary(d.Name) && c.returns(d):
		case torchsLibrary(d.Name):
			goes := !brings(c.b.choice, d.Name)
			out.Changes = append(out.Changes, plan.Change{Name: d.Name, From: d.Version, Goes: goes,
				Why: say.Either(goes, "the other torch does not need it", "as torch needs it")})
		case d.Name == "pip" && seeded: // the new environment has one
		case isProject(d, c.b.t): // it is installed from there
		default:
			if l := c.cannot(d); l.why != "" {
				c.leaves[d.Name] = l
			} else {
				c.stays[d.Name] = true
			}
		}
	}
}

// returns reports whether one of torch's libraries comes back as it is: with the very torch that
// is there, and what that brings asks for no other version of it.
func (c *keeper) returns(library machine.HeldDist) bool {
	to, _ := becomes(c.b.choice, "torch")
	return to == c.was["torch"].Version && !slices.ContainsFunc(c.held.Dists, func(d machine.HeldDist) bool {
		return slices.ContainsFunc(pep508.Read(d.Requires, ""), func(q pep508.Requirement) bool {
			return q.Name == library.Name && !admits(q, library.Version)
		})
	})
}

// becomes is the version of a package that is chosen: torch's as torch itself says it,
// whatever its index calls it.
func becomes(c *resolver.Choice, name string) (to string, chosen bool) {
	to, chosen = c.Packages[name]
	if _, label := version.SplitLocal(to); name == "torch" && to != "" && label == "" && c.Build != "mps" {
		to += "+" + c.Build
	}
	return to, chosen
}

var cudaLibrary = lazy.Regexp(
	`^nvidia-(cublas|cuda-cupti|cuda-nvrtc|cuda-runtime|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt|nccl|nvjitlink|nvshmem|nvtx)(-cu\d\d)?$`,
)

// torchsLibrary reports whether a package is one of those that torch brings and
// pins.
func torchsLibrary(name string) bool {
	return cudaLibrary().MatchString(name) || slices.Contains([]string{"triton", "pytorch-triton", "pytorch-triton-rocm", "pytorch-triton-xpu",
		"triton-rocm", "triton-xpu", "cuda-toolkit", "cuda-bindings", "cuda-pathfinder"}, name)
}

// brings reports whether the chosen torch brings one of its libraries: those of
// CUDA 12 and older are named -cu12, those of CUDA 13 have no such ending.
func brings(c *resolver.Choice, name string) bool {
	cuda, err := version.ParseDotted(c.CUDA)
	_, suffix, named := strings.Cut(name, "-cu1") // also nvidia-cublas-cu12
	switch {
	case err != nil: // none
		return false
	case name == "triton":
		return true
	case !strings.HasPrefix(name, "nvidia-"):
		return cuda.Major() >= 13 && strings.HasPrefix(name, "cuda-")
	case named:
		return fmt.Sprint(cuda.Major()) == "1"+suffix
	}
	return cuda.Major() >= 13
}

// cannot says why a package cannot stay beside the new torch, whatever the others
// do; "" it can.
func (c *keeper) cannot(d machine.HeldDist) dropped {
	public, label := version.SplitLocal(d.Version)
	_, bad := version.ParsePython(public)
	switch {
	case slices.Contains(c.b.t.Drop, d.Name):
		return dropped{why: "`--drop`"}
	case c.b.r.Policy != nil && slices.Contains(c.b.r.Policy.Never, d.Name):
		return dropped{why: "the team's policy never installs it"}
	case d.Broken != "":
		return dropped{why: d.Broken}
	case bad != nil || !plainName().MatchString(d.Name) || !plainLabel().MatchString(label):
		return dropped{why: fmt.Sprintf("its name or its version is none: %q", d.Version)}
	}
	if why := c.otherPython(d); why != "" {
		return dropped{why: why}
	}
	if no := c.againstTorch(d); no.why != "" {
		return no
	}
	if c.copyable(d) || label != "" && c.b.choice.Index != nil && label == c.b.choice.Build { // on its index
		return dropped{}
	}
	if d.Origin != nil {
		_, why := again(d.Origin)
		return dropped{why: why}
	}
	return dropped{why: cmp.Or(c.notOnIndex(d, label), c.unasked(d))}
}

// againstTorch says what in a package speaks against the new torch: what is known of it, or
// where nobody read it, what its libraries link.
func (c *keeper) againstTorch(d machine.HeldDist) dropped {
	why, known := c.conflicts(d.Name, d.Version)
	if why != "" {
		return dropped{why: why, again: !strings.Contains(why, "source distribution") && c.mayAsk(d)}
	}
	if known {
		return dropped{}
	}
	return dropped{why: c.linked(d), again: c.mayAsk(d) && !builtHere(d)}
}

var (
	plainName  = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	plainLabel = lazy.Regexp(`^[A-Za-z0-9._-]*$`)
)

// otherPython: the package refuses the Python of the new environment.
func (c *keeper) otherPython(d machine.HeldDist) string {
	spec, err := version.ParseSpecifier(d.RequiresPython)
	python, err2 := version.ParsePython(strings.TrimSuffix(c.b.choice.Python, "t") + ".99")
	if err != nil || err2 != nil || spec.IsZero() || spec.Admits(python) {
		return ""
	}
	return fmt.Sprintf("needs Python %s, and the new one is %s", d.RequiresPython, c.b.choice.Python)
}

// notOnIndex: no index that is asked has such a wheel.
func (c *keeper) notOnIndex(d machine.HeldDist, label string) string {
	switch {
	case label != "" && c.b.src.mirrors.Default == "":
		return "the default index has no versions with a label such as +" + label
	case label == "" && builtHere(d):
		return "was built here from source, and only wheels are installed"
	}
	return ""
}

// builtHere reports a wheel that no index takes: "linux_x86_64" says nothing of
// the C library (PEP 513), so only what was built on a machine has it.
func builtHere(d machine.HeldDist) bool {
	return slices.ContainsFunc(d.Tags, func(tag string) bool {
		return strings.HasSuffix(tag, "-linux_x86_64") || strings.HasSuffix(tag, "-linux_aarch64")
	})
}

// linked: its machine code asks for libraries of the torch, or the CUDA, that
// goes. The C++ interface of torch changes with each minor release.
func (c *keeper) linked(d machine.HeldDist) string {
	links := d.Links
	if d.Origin != nil {
		links = slices.Concat(links, d.Origin.Links)
	}
	torch := c.was["torch"].Version
	if torch == "" || len(links) == 0 {
		return ""
	}
	major, _, _ := strings.Cut(c.b.choice.CUDA, ".")
	for _, name := range links {
		library, so, _ := strings.Cut(name, ".so")
		switch library {
		case "libtorch", "libtorch_cpu", "libtorch_cuda", "libtorch_python", "libtorch_hip", "libc10", "libc10_cuda", "libc10_hip":
			if !c.sameTorch(torch) {
				return "is compiled against torch " + torch
			}
		case "libcudart", "libcublas", "libcublasLt": // their major version is CUDA's
			needsOwn := slices.ContainsFunc(d.Requires, func(line string) bool { return strings.HasPrefix(line, "nvidia-") })
			so, _, _ = strings.Cut(strings.TrimPrefix(so, "."), ".") // libcudart.so.11.0
			if so != "" && so != major && !needsOwn {
				return fmt.Sprintf("links %s, and torch %s brings %s", name, c.b.choice.Torch, cmp.Or(say.With("CUDA ", c.b.choice.CUDA, ""), "no CUDA"))
			}
		}
	}
	return ""
}

// sameTorch reports whether code that was compiled against an installed torch loads
// beside the chosen one: the same minor release, for the same CUDA.
func (c *keeper) sameTorch(installed string) bool {
	public, label := version.SplitLocal(installed)
	return version.Minor(public) == version.Minor(c.b.choice.Torch) && (label == "" || label == c.b.choice.Build)
}

// saidElsewhere leaves out the warnings of packages that the new torch breaks
// where the plan says of each what becomes of it.
func saidElsewhere(warnings []string, c *plan.Keep) []string {
	if c == nil {
		return warnings
	}
	said := xslices.Set(c.Leaves, func(k plan.Dropped) string { return k.Name + " " + k.Version })
	for _, k := range c.Changes {
		said[k.Name+" "+k.From] = k.Name != "torch"
	}
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool {
		who, _, ok := strings.Cut(w, " is installed and ")
		return ok && said[who]
	})
}

// needs are those of some packages that are there, and all that they require.
func needs(there *machine.Held, first []string) map[string]bool {
	out := xslices.Reach(func(name string) []string {
		d, _ := heldDist(there, name)
		return pep508.Names(pep508.Read(d.Requires, ""))
	}, first...)
	maps.DeleteFunc(out, func(name string, _ bool) bool { _, is := heldDist(there, name); return !is })
	return out
}

func heldDist(there *machine.Held, name string) (machine.HeldDist, bool) {
	return xslices.Find(there.Dists, func(d machine.HeldDist) bool { return d.Name == name })
}
