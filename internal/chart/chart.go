// Package chart draws which generation of GPUs runs which release of torch: as HTML,
// for the web page and `envfix matrix map --html`, and as text for a terminal. What
// runs is the resolver's word, for a machine with one such GPU and the newest driver
// that drives it.
package chart

import (
	"slices"
	"strconv"

	"envfix/internal/describe"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"
)

// A View says what is drawn.
type View struct {
	OS, Arch string         // linux, windows, macos; as machine.Platform.Arch
	Driver   version.Dotted // what needs a newer one is marked; zero: the newest
	WSL      bool           // the Windows driver counts
	GPUs     []machine.GPU  // the chosen machine's: their rows stand out
	Torch    string         // the chosen torch: its column stands out; "" none
	Today    string
}

// A Map is a table: a row per generation, a column per minor release of torch.
type Map struct {
	View
	Columns []Column // oldest first
	Rows    []Row
}

// A Column is the newest release of a minor version.
type Column struct {
	Torch  string // 2.14.1
	Chosen bool
}

// Minor is the release without its patch: 2.14.
func (c Column) Minor() string { return version.Minor(c.Torch) }

// A Row is one generation.
type Row struct {
	Vendor string
	Code   string // 8.9, gfx1100; "" Intel, Apple
	Name   string // Ada, CDNA …
	Models string // some that people know
	Chosen bool
	Cells  []Cell

	gpu machine.GPU
}

// A State says how a release runs on a generation.
type State string

// The states.
const (
	Native State = "code"   // machine code for it
	PTX    State = "ptx"    // the driver compiles every kernel at its first use
	Driver State = "driver" // it would run with another driver
	None   State = "none"

	Unknown State = "unknown" // nobody saw the wheel of a build that would have code for it
)

// A Cell is one minor version on one generation.
type Cell struct {
	Torch  string // the newest release of the column that runs; where none does, the newest
	State  State
	Build  string // cu126; "" none
	More   []string
	Text   string // the reason in a sentence
	Source string
	Proof  matrix.Proof
}

// Make computes the map. It resolves once for each generation.
func Make(m *matrix.Matrix, v View) *Map {
	out := &Map{View: v}
	var minors [][]*matrix.Release
	for _, r := range m.Releases { // newest first
		last := len(minors) - 1
		if last < 0 || version.Minor(minors[last][0].Torch.String()) != version.Minor(r.Torch.String()) {
			minors = append(minors, nil)
			last++
		}
		minors[last] = append(minors[last], r)
	}
	slices.Reverse(minors)
	out.Columns = text.Each(minors, func(of []*matrix.Release) Column { return Column{Torch: of[0].Torch.String()} })
	d := &drawing{m: m, v: v, session: resolver.NewSession(m), minors: minors}
	for _, row := range generations(m, v) {
		row.Cells = d.cells(row.gpu)
		if chosen(v.GPUs, row.gpu) || slices.ContainsFunc(row.Cells, runs) {
			out.Rows = append(out.Rows, row)
		}
	}
	out.Choose(v.GPUs, v.Torch)
	return out
}

// Choose lets the rows of some GPUs and the column of a torch stand out, in place of
// those that did. A torch of "" is none.
func (m *Map) Choose(gpus []machine.GPU, torch string) {
	m.GPUs, m.Torch = gpus, torch
	for i := range m.Rows {
		m.Rows[i].Chosen = chosen(gpus, m.Rows[i].gpu)
	}
	for i := range m.Columns {
		m.Columns[i].Chosen = torch != "" && version.Minor(torch) == m.Columns[i].Minor()
	}
}

func runs(c Cell) bool { return c.State != None && c.State != Unknown }

func chosen(gpus []machine.GPU, g machine.GPU) bool {
	return slices.ContainsFunc(gpus, func(o machine.GPU) bool {
		return o.Vendor == g.Vendor && o.SM == g.SM && (o.GFX == g.GFX || o.GFX == "")
	})
}

// A drawing holds what the cells of one map share.
type drawing struct {
	m       *matrix.Matrix
	v       View
	session *resolver.Session
	minors  [][]*matrix.Release // oldest first; the releases of each newest first

	verdictsOf string // the generation
	verdicts   []resolver.Verdict
}

// host is a machine with one such GPU and the newest driver that drives it.
func (d *drawing) host(g machine.GPU) machine.Machine {
	g.Visible, g.Evidence = true, machine.FromFlag
	h := machine.Machine{Format: machine.Format, Platform: machine.Platform{OS: d.v.OS, Arch: d.v.Arch}, GPUs: []machine.GPU{g}, Privilege: "sudo"}
	if d.v.OS == "linux" {
		h.Platform.Libc = &machine.Libc{Kind: "glibc"}
	}
	if d.v.WSL {
		h.Platform.Environment = machine.WSL2
	}
	if newest, ok := describe.NewestDriver(d.m, h); ok {
		h.Driver = &machine.Driver{Version: newest, Evidence: machine.FromFlag}
	}
	return h
}

// cells are a generation's, one for each column.
func (d *drawing) cells(g machine.GPU) []Cell {
	h := d.host(g)
	later := d.runs(h)
	now := later
	if !d.v.Driver.IsZero() && h.Driver != nil {
		mine := h
		mine.Driver = &machine.Driver{Version: d.v.Driver, Evidence: machine.FromFlag}
		now = d.runs(mine)
	}
	return text.Each(d.minors, func(releases []*matrix.Release) Cell { return d.best(releases, h, now, later) })
}

// best is the cell of a minor version: its newest release that runs; else the newest
// that does with another driver; else the newest. A patch release may lack a build
// that the one before it has.
func (d *drawing) best(releases []*matrix.Release, h machine.Machine, now, later map[string][]*matrix.Build) Cell {
	g := h.GPUs[0]
	for _, rel := range releases {
		if builds := now[rel.Torch.String()]; len(builds) > 0 {
			return d.cell(builds, builds[0], g, d.code(builds[0], g))
		}
	}
	for _, rel := range releases {
		if builds := later[rel.Torch.String()]; len(builds) > 0 {
			undemanding := slices.MinFunc(builds, func(a, b *matrix.Build) int { return d.floor(a, g).Compare(d.floor(b, g)) }) // asks least of the driver
			return d.cell(builds, undemanding, g, Driver)
		}
	}
	return d.empty(releases[0], h)
}

// question asks for torch alone, in any release.
func (d *drawing) question() resolver.Request {
	return resolver.Request{Described: true, Today: d.v.Today, Requirements: []pep508.Requirement{{Name: "torch", Text: "torch"}}}
}

// runs are the builds that run on a machine as it is, by release, the preferred first.
func (d *drawing) runs(h machine.Machine) map[string][]*matrix.Build {
	out := map[string][]*matrix.Build{}
	b, err := d.session.Brief(h, d.question())
	if err != nil || b.Decision != resolver.Install {
		return out
	}
	for _, o := range b.Options {
		if build, ok := d.m.BuildOf(o.Torch, o.Build, d.v.OS, d.v.Arch); ok {
			out[o.Torch] = append(out[o.Torch], build)
		}
	}
	return out
}

// cell is that of a release that runs, with the build of it that counts.
func (d *drawing) cell(builds []*matrix.Build, pick *matrix.Build, g machine.GPU, state State) Cell {
	more := xslices.Filter(builds, func(b *matrix.Build) bool { return b != pick })
	return Cell{Torch: pick.Release.Torch.String(), State: state, Build: pick.Label,
		More:   text.Each(more, func(b *matrix.Build) string { return b.Label }),
		Source: source(pick), Proof: pick.Proof, Text: d.said(pick, g, state)}
}

func (d *drawing) code(b *matrix.Build, g machine.GPU) State {
	if g.Vendor != machine.NVIDIA {
		return Native
	}
	if native, _ := d.m.Covers(b.Native, b.PTX, g.SM); native {
		return Native
	}
	return PTX
}

// floor is the oldest driver that runs a build and knows the GPU; zero: it needs none
// of NVIDIA's.
func (d *drawing) floor(b *matrix.Build, g machine.GPU) version.Dotted {
	if b.CUDA.IsZero() {
		return version.Dotted{}
	}
	f, _ := d.m.Floor(b.Label)
	a, _ := d.m.Arch(g.SM)
	windows := d.v.OS == "windows" || d.v.WSL
	needs, knows := f.Driver(windows), a.First(windows)
	if needs.Less(knows) {
		return knows
	}
	return needs
}

// outlived is the last branch that drives a GPU, where the driver at hand is a newer
// one; 0: it is not.
func (d *drawing) outlived(g machine.GPU) int {
	a, known := d.m.Arch(g.SM)
	if !known || a.LastBranch == 0 || d.v.Driver.IsZero() {
		return 0
	}
	for _, b := range d.m.Branches { // newest first; Windows counts on within a branch
		if b.Number <= d.v.Driver.Major() {
			if b.Number > a.LastBranch {
				return a.LastBranch
			}
			break
		}
	}
	return 0
}

func source(b *matrix.Build) string {
	return say.Either(b.Citation != "", b.Citation+" ("+b.Source+")", b.Source)
}

func (d *drawing) said(b *matrix.Build, g machine.GPU, state State) string {
	s := "build " + b.Label
	switch {
	case g.Vendor != machine.NVIDIA:
		s += " is made for it"
	case d.code(b, g) == Native:
		s += " has code for " + g.SM.String()
	default:
		s += " has no code for " + g.SM.String() + ", only PTX, which the driver compiles at the first use of every kernel"
	}
	if f := d.floor(b, g); !f.IsZero() {
		s += "; driver " + f.String() + " or newer"
	}
	if last := d.outlived(g); last > 0 {
		return s + " up to branch " + strconv.Itoa(last) + ", the last that drives it, and yours is " + d.v.Driver.String()
	}
	s += say.If(state == Driver, ", and yours is "+d.v.Driver.String())
	return s
}
