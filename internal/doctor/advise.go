package doctor

import (
	"regexp"
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A person is whoever is to do what a finding advises: the system and the program that
// installs, as far as they are known.
type person struct {
	os   string // linux, windows, macos; "" unknown
	wsl  bool
	pip  string // how pip is called there
	uv   bool
	said bool   // the system was read, and not taken for granted
	into string // the interpreter that uv pip has to be told of; "" none

	container bool
	last      bool // no newer driver drives the GPU than the branch that is there
	rocm      bool // torch is the build for AMD's GPUs, or is to be
	managed   bool // the Python that was examined is the system's, which pip refuses to change (PEP 668)
}

func (e *exam) person() person {
	around := e.Machine.Platform.Environment
	p := person{os: e.Machine.Platform.OS, wsl: around == machine.WSL2, container: around == machine.Container, pip: "pip"}
	pythons := e.Machine.Pythons
	p.managed = !e.Pasted && e.Files != nil && len(pythons) > 0 && pythons[0].ExternallyManaged && !slices.ContainsFunc(pythons, func(y machine.Python) bool { return y.Active })
	p.said = !e.Pasted || !e.From.OS.IsZero() || p.wsl
	p.last = e.Driver().IsLast()
	p.rocm = forROCm(e.Case, e.GPU())
	switch {
	case !e.Did.EmbeddedPython.IsZero():
		p.pip = `.\python_embeded\python.exe -m pip`
	case e.Place.Pipx != "":
		p.pip = "pipx runpip " + e.Place.Pipx
	case e.Pasted && e.Place.Interpreter != "" && e.Did.UV.IsZero():
		p.pip = e.Place.Interpreter + " -m pip"
	case !e.Did.UV.IsZero():
		p.pip, p.uv = "uv pip", true
	case e.withoutPip() != "":
		p.pip, p.uv, p.into = "uv pip", true, e.withoutPip()
	}
	return p
}

// forROCm reports whether torch is, or is to be, the build for AMD's GPUs, and no GPU is NVIDIA's.
func forROCm(c *read.Case, gpu evidence.GPU) bool {
	return (c.Torch.HIP != "" || !c.Says.ROCm.IsZero() || gpu.Of(machine.AMD)) && !gpu.Of(machine.NVIDIA)
}

// withoutPip is the interpreter of an environment here that uv made and that has no pip:
// what is called pip in its shell is another one's. "" there is none.
func (e *exam) withoutPip() string {
	byUV := func(d machine.DistFiles) bool { return d.Installer == "uv" }
	if e.Pasted || e.Files == nil || !slices.ContainsFunc(e.Files.Dists, byUV) ||
		slices.ContainsFunc(e.Machine.Installed, func(p machine.Package) bool { return p.Name == "pip" }) {
		return ""
	}
	p, _ := xslices.Find(e.Machine.Pythons, func(p machine.Python) bool { return p.Active && p.Path != "" && !strings.Contains(p.Path, " ") })
	return p.Path
}

// A remedy is what to do about a check, as it stands in the data or a rule says it: as for
// a shell of Linux, and by place where it is another.
type remedy struct {
	check  string
	fix    []string
	places map[string][]string
}

// usual is what a check says itself.
func usual(c *know.Check) remedy { return remedy{c.ID, c.Fix, c.Places} }

// ways renders a remedy for the person who is to do it. It is the only place where that
// happens. Where nothing that a rule says can be done there, what the check says for that
// place can.
func (e *exam) ways(r remedy, said []string) []string {
	p := e.person()
	out := e.rendered(r.ofPlace(p), p, said)
	if c := usual(e.Check(r.check)); len(out) == 0 && r.places == nil && len(c.places[c.place(p)]) > 0 {
		out = e.rendered(c.ofPlace(p), p, said)
	}
	switch {
	case len(out) > 0:
		out[0] = strings.TrimPrefix(out[0], "or ") // what it was the other way of is not for this person
	case len(r.fix) == 0:
	case e.barred():
		return []string{"the team's policy admits nothing of what would help: `" + e.PlanCommand() + "` says what stands against each build"}
	default:
		return []string{"`envfix doctor` on that machine names what is there"}
	}
	return out
}

// rendered are ways out as the person reads them, without those that are not for them.
func (e *exam) rendered(ways []string, p person, said []string) (out []string) {
	for _, way := range ways {
		if strings.HasPrefix(way, "by hand: ") && knownSM(e.Evidence) {
			continue // it is the rule of thumb for a GPU that nobody named
		}
		for _, w := range e.filled(way) {
			if w = ofDistribution(e.Evidence, p.render(e.already(fill(e.Evidence, w, said)))); w != "" && !slices.Contains(out, w) && e.admitted(w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// place is where the person is, as the data names it.
func (r remedy) place(p person) string {
	switch {
	case p.wsl:
		return "wsl"
	case p.container && len(r.places["container"]) > 0:
		return "container"
	}
	return p.os
}

// ofPlace is what the remedy says for the place of the person, where it says another.
func (r remedy) ofPlace(p person) []string {
	place := r.place(p)
	if ways := r.places[place]; len(ways) > 0 && (p.said || place == "container") {
		return ways
	}
	return r.fix
}

// filled puts what is known of this machine into a way out. One that the resolver
// refuses for this machine is left out.
func (e *exam) filled(way string) []string {
	if lead, ok := strings.CutSuffix(way, "{torch}"); ok {
		ways := e.torchFix()
		if lead != "" && len(ways) > 0 && !strings.HasPrefix(ways[0], "`") {
			return nil // no command to lead to
		}
		if lead == evidence.IfSo && len(ways) > 0 {
			return []string{lead + ways[0]}
		}
		return append([]string{lead + strings.Join(ways[:min(1, len(ways))], "")}, ways[min(1, len(ways)):]...)
	}
	switch way {
	case "{conda}":
		return e.condaFix()
	case "{pair}":
		return e.Pair().Fix()
	case "{python}":
		v, _, _ := e.Wanted().Torch()
		return e.Python().Fix(v)
	}
	if !strings.Contains(way, "`envfix plan`") {
		return []string{way}
	}
	if !e.planned() {
		return nil
	}
	return []string{strings.ReplaceAll(way, "`envfix plan`", "`"+e.PlanCommand()+"`")}
}

// render translates one way out for the person; "" where nothing of it can be done
// there.
func (p person) render(way string) string {
	if p.managed && strings.Contains(way, "pip install ") {
		return "`envfix apply` makes an environment (.venv) with what fits: this Python is the system's, and pip does not install into it (PEP 668)"
	}
	way = p.installer(way)
	if p.os == "windows" {
		way = text.OnWindows(way)
	}
	for _, f := range []struct {
		here   bool
		others func() *regexp.Regexp // what it has not
	}{
		{p.os == "windows", unix}, {p.os == "macos", notMac}, {p.wsl, notWSL}, {p.os == "linux" && p.said && !p.wsl, notLinux}, {p.rocm, notROCm}, {p.last, newer},
	} {
		if f.here && f.others().MatchString(way) {
			way = kept(way, f.others())
		}
	}
	return way
}

// kept is what is left of a way out without the clauses that a system does not have.
func kept(way string, foreign *regexp.Regexp) string {
	out := xslices.Filter(clauses(way), func(clause string) bool { return !foreign.MatchString(clause) })
	return strings.Join(out, "; ")
}

// clauses are the parts of a way out between semicolons; one within a command is no end.
func clauses(way string) []string {
	var out []string
	start, code := 0, false
	for i := range len(way) {
		switch {
		case way[i] == '`':
			code = !code
		case way[i] == ';' && !code && strings.HasPrefix(way[i:], "; "):
			out = append(out, way[start:i])
			start = i + 2
		}
	}
	return append(out, way[start:])
}

var (
	unix = lazy.Regexp(`(?i)\bsudo |\bapt(-get)? |(?:^|` + "`" + `|\s)(?:export|unset) [A-Z]|\bldconfig\b|\bsystemctl\b|\bmodprobe\b|\brmmod\b|` +
		`\bdkms\b|bin/activate|/etc/|/dev/|~/\.|\blsof\b|\bfuser\b|\bmokutil\b|nvidia-driver-|\| ?grep\b|` +
		`LIBRARY_PATH|\bnvidia-ctk\b|\bss -|\bsrun\b|\bsbatch\b|\bapt-mark\b|\bdnf\b`)
	notMac = lazy.Regexp(`(?i)\bapt(-get)? |\bldconfig\b|\bsystemctl\b|\bmodprobe\b|\bdkms\b|Scripts\\|\$env:|` +
		`\bnvidia-(?:driver|smi)|NVIDIA driver|vc_redist|\bBIOS\b|--gpus all`)
	notWSL = lazy.Regexp(`(?i)Scripts\\|vc_redist|apt(-get)? install \S*nvidia-driver|\bmokutil\b`)
	// what only Windows has, of somebody who is known to use Linux
	notLinux = lazy.Regexp(`(?i)^Windows\b|Scripts\\|\bwinget\b|\bsetx [A-Z]|\$env:|Remove-Item Env:|vc_redist|` +
		`visual c\+\+ redist|\btaskkill\b`)
	newer = lazy.Regexp(`\bupdate the (?:\S+ )?driver|--change-driver|\bnewer driver`)
	// what is of NVIDIA alone
	notROCm = lazy.Regexp(`nvidia-(?:smi|driver|modprobe|ctk)|nvidia_uvm|NVIDIA(?:'s)? (?:driver|repository|CUDA)|cuda-toolkit|/usr/local/cuda|` +
		`CUDA_HOME|\bCUDA toolkit|whl/cu\d|--gpus all|compute-sanitizer|torch\.version\.cuda`)
)

// installer names pip as this person calls it.
func (p person) installer(way string) string {
	if p.pip == "pip" || !strings.Contains(way, "`pip ") {
		return way
	}
	way = strings.ReplaceAll(way, "`pip ", "`"+p.pip+" ")
	if p.uv {
		way = strings.ReplaceAll(way, "--force-reinstall", "--reinstall")
		way = strings.ReplaceAll(way, "uv pip uninstall -y ", "uv pip uninstall ") // it asks nothing, and knows no -y
	}
	if p.into != "" {
		way = strings.ReplaceAll(way, "`uv pip install ", "`uv pip install --python "+p.into+" ")
	}
	return way
}
