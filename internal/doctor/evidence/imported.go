package evidence

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// believe takes what Python showed in place of what the files made likely: the
// libraries that are loaded, and the GPUs that torch has code for.
func (e *Evidence) believe() {
	if r := e.Running; r != nil && len(r.Mapped) > 0 {
		e.Imports().believeMapped(&read.Imported{Mapped: r.Mapped, Own: r.Own})
	}
	i := e.Imported
	if i == nil || i.Torch == "" {
		return
	}
	if have := ArchesOf(i.Arches); len(have.Native) > 0 {
		e.Torch.Arches, e.Torch.PTX, e.Torch.ArchesAt = have.Native, have.PTX, Fact("torch says that it has code for %s",
			strings.Join(i.Arches, " "))
	}
	g := e.GPU().First(machine.NVIDIA)
	if yes := i.GPUs > 0; yes || i.CUDA != "" && g != nil && g.Visible && g.Evidence != machine.FromFlag {
		e.Torch.Available = &yes
		e.Torch.AvailableAt = Fact("torch computes on %d GPUs", i.GPUs)
	}
	e.Imports().believeMapped(i)
}

// believeMapped takes the libraries that are mapped in place of those that the files
// made likely.
func (e Imports) believeMapped(i *read.Imported) {
	if e.Files == nil || len(i.Mapped) == 0 {
		return
	}
	files := *e.Files // the caller's stays as it was
	files.Loaded = slices.Clone(files.Loaded)
	for n := range files.Loaded {
		l := &files.Loaded[n]
		now := i.Loads(l.Name)
		switch {
		case now == "" || now == l.Path:
		case i.Owns(now):
			l.Path, l.Via, l.Entry, l.Wheel = now, loadedVia, "", ""
		case l.Wheel != "" || i.Owns(l.Path):
			l.Wheel = cmp.Or(l.Wheel, l.Path)
			l.Path, l.Via, l.Entry, l.Version = now, loadedVia, EntryOf(e.Machine.Env["LD_LIBRARY_PATH"], path.Dir(now)), ""
			if l.Entry != "" {
				l.Via = "LD_LIBRARY_PATH"
			}
		}
	}
	e.Files = &files
}

// loadedVia is how a library was found of which only the result is known.
const loadedVia = "as Python loaded it"

// Arches is a list of what torch has code for.
type Arches struct{ Native, PTX []machine.SM }

// ArchesOf reads sm_90, sm_90a and compute_90; what it cannot read is left out.
func ArchesOf(flags []string) (a Arches) {
	for _, f := range flags {
		kind, code, _ := strings.Cut(f, "_")
		sm, err := machine.ParseSM(strings.TrimRight(code, "af"))
		switch {
		case err != nil:
		case kind == "sm":
			a.Native = append(a.Native, sm)
		case kind == "compute":
			a.PTX = append(a.PTX, sm)
		}
	}
	return a
}
