package doctor

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
	"envfix/matrix"
)

// importedRules compare what Python says with what the files say.
var importedRules = []rule{
	{[]string{"PY011"}, "that Python imports torch, and when it does not, how it ended", (*exam).notImported},
	{[]string{"PY011"}, "torch's version and CUDA as Python says them and as the files do", (*exam).anotherTorch},
	{
		[]string{"PY011"}, "the GPUs that torch has code for and those that the data says of its build",
		(*exam).anotherBuild,
	},
	{[]string{"LD002"}, "the version of the cuDNN that was loaded and that of its package", (*exam).anotherCuDNN},
}

// believe takes what Python showed in place of what the files made likely: the
// libraries that are loaded, and the GPUs that torch has code for.
func (e *exam) believe() {
	if r := e.Running; r != nil && len(r.Mapped) > 0 {
		e.believeMapped(&read.Imported{Mapped: r.Mapped, Own: r.Own})
	}
	i := e.Imported
	if i == nil || i.Torch == "" {
		return
	}
	if have := archesOf(i.Arches); len(have.native) > 0 && !e.dataSays(have) {
		e.Torch.Arches, e.Torch.PTX, e.Torch.ArchesAt = have.native, have.ptx, fact("torch says that it has code for %s",
			strings.Join(i.Arches, " "))
	}
	g := e.firstGPU(machine.NVIDIA)
	if yes := i.GPUs > 0; yes || i.CUDA != "" && g != nil && g.Visible && g.Evidence != machine.FromFlag {
		e.Torch.Available = &yes
		e.Torch.AvailableAt = fact("torch computes on %d GPUs", i.GPUs)
	}
	e.believeMapped(i)
}

// believeMapped takes the libraries that are mapped in place of those that the files
// made likely.
func (e *exam) believeMapped(i *read.Imported) {
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
			l.Path, l.Via, l.Entry, l.Version = now, loadedVia, entryOf(e.Machine.Env["LD_LIBRARY_PATH"], path.Dir(now)), ""
			if l.Entry != "" {
				l.Via = "LD_LIBRARY_PATH"
			}
		}
	}
	e.Files = &files
}

// loadedVia is how a library was found of which only the result is known.
const loadedVia = "as Python loaded it"

// notImported: Python did not import torch, and no message says why.
func (e *exam) notImported() {
	i := e.Imported
	if i == nil || i.Torch != "" || len(e.Hits) > 0 && i.Late == "" {
		return
	}
	f := Finding{
		Cause: "none", Text: "torch does not import",
		Fix: []string{"`envfix plan` chooses the build and prints the commands"},
	}
	switch {
	case i.Late != "":
		f.Text = "Python did not import torch within " + i.Late
		f.Fix = []string{
			"`timeout 10 nvidia-smi`: where that hangs too, it is the driver: reboot",
			"an environment on a network drive: move it to a local disk",
		}
	case strings.Contains(i.Failed, "was ended by"):
		_, how, _ := strings.Cut(i.Failed, "was ended by ")
		f.Text = "Python crashes when it imports torch: " + how
		f.Fix = []string{"`envfix doctor --fix` where a finding below names broken files; else `envfix apply --env other` tells whether it is this environment"}
	}
	e.find("PY011", strong, fact("%s", i.Failed)).with(f).severity(know.Error)
}

// anotherTorch: Python imports another torch than the environment's files are.
func (e *exam) anotherTorch() {
	i := e.Imported
	if i == nil || i.Torch == "" {
		return
	}
	said := []read.Evidence{fact("torch.__version__ is %s", i.Torch), e.Torch.VersionAt}
	if i.Path != "" && !i.Owns(i.Path) {
		said = append(said, fact("torch.__file__ is %s", i.Path))
	}
	have, label := version.SplitLocal(i.Torch)
	mend := Mend{}
	if i.Owns(i.Path) && e.Files != nil && !e.Pasted {
		mend = Mend{Rebuild: true}
	}
	switch {
	case e.Torch.Version != "" && have != e.Torch.Version,
		e.Torch.Label != "" && label != "" && label != e.Torch.Label:
		e.find("PY011", proven, said...).
			says("Python imports torch %s, and the files of the environment are %s", i.Torch, withLabel(e.Torch)).
			mend(mend)
	case i.CUDA != "" && !e.Torch.CUDA.IsZero() && i.CUDA != e.Torch.CUDA.MajorMinor(), i.CUDA == "" &&
		!e.Torch.CUDA.IsZero():
		e.find("PY011", proven, said...).
			says("torch.version.cuda is %s, and the files of the environment are for CUDA %s",
				cmp.Or(i.CUDA, "None"), e.Torch.CUDA.MajorMinor()).
			mend(mend)
	}
}

// arches is a list of what torch has code for.
type arches struct{ native, ptx []machine.SM }

// archesOf reads sm_90, sm_90a and compute_90; what it cannot read is left out.
func archesOf(flags []string) arches {
	var a arches
	for _, f := range flags {
		kind, code, _ := strings.Cut(f, "_")
		sm, err := machine.ParseSM(strings.TrimRight(code, "af"))
		switch {
		case err != nil:
		case kind == "sm":
			a.native = append(a.native, sm)
		case kind == "compute":
			a.ptx = append(a.ptx, sm)
		}
	}
	return a
}

// dataSays reports whether the data has the same of the build that is installed;
// what it does not know it does not contradict.
func (e *exam) dataSays(have arches) bool {
	b, known := e.build()
	return known && sameSMs(have.native, codes(b.Native)) && sameSMs(have.ptx, codes(b.PTX))
}

func codes(in []matrix.Code) []machine.SM {
	var out []machine.SM
	for _, c := range in {
		out = append(out, c.SM)
	}
	return out
}

func sameSMs(a, b []machine.SM) bool {
	return !slices.ContainsFunc(a, func(s machine.SM) bool { return !slices.Contains(b, s) }) &&
		!slices.ContainsFunc(b, func(s machine.SM) bool { return !slices.Contains(a, s) })
}

// anotherBuild: torch has code for other GPUs than its build: somebody else built
// it, or its libraries are of another build.
func (e *exam) anotherBuild() {
	i := e.Imported
	if i == nil || len(i.Arches) == 0 {
		return
	}
	b, known := e.build()
	if have := archesOf(i.Arches); !known || len(have.native) == 0 || e.dataSays(have) {
		return
	}
	var want []string
	for _, c := range b.Native {
		want = append(want, "sm_"+c.SM.Code()+c.Suffix)
	}
	for _, c := range b.PTX {
		want = append(want, "compute_"+c.SM.Code()+c.Suffix)
	}
	e.find("PY011", strong,
		fact("torch says %s", strings.Join(i.Arches, " ")),
		fact("PyTorch's has %s", strings.Join(want, " "))).
		cause("none").
		says("this torch %s has code for other GPUs than PyTorch's own build of that name", i.Torch).
		fix("nothing, where you built it yourself; else `envfix doctor --fix`").
		mend(e.rebuild(i.Path)).
		severity(know.Warning)
}

// anotherCuDNN: the cuDNN that was loaded is not the version of its package. Its
// own number has three parts, the package's a fourth.
func (e *exam) anotherCuDNN() {
	i := e.Imported
	if i == nil || e.Files == nil || i.CuDNN.IsZero() {
		return
	}
	for _, d := range e.Files.Dists {
		library, _, ok := nvidiaPackage(d.Name)
		want, err := version.ParseDotted(d.Version)
		if !ok || library != "cudnn" || err != nil || want.Group(0) == i.CuDNN.Group(0) &&
			want.Group(1) == i.CuDNN.Group(1) && want.Group(2) == i.CuDNN.Group(2) {
			continue
		}
		f := Finding{Text: fmt.Sprintf("Python loads cuDNN %s, and the environment has %s %s", i.CuDNN, d.Name,
			d.Version)}
		said := []read.Evidence{e.From.Env["LD_LIBRARY_PATH"]}
		if file := i.Loads(fmt.Sprintf("libcudnn.so.%d", i.CuDNN.Major())); file != "" {
			said = append(said, fact("it loaded %s", file))
			f.Mend = e.rebuild(file)
			if entry := entryOf(e.Machine.Env["LD_LIBRARY_PATH"], path.Dir(file)); entry != "" {
				f.Mend = e.without("LD_LIBRARY_PATH", entry, "its cuDNN comes before torch's own")
			}
		}
		e.find("LD002", proven, said...).with(f)
	}
}
