package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// versionRules look at versions that people write down: of Windows, of a Jetson's system,
// of a driver by its branch alone.
var versionRules = []rule{
	{[]string{"DRV005"}, "the driver, and the CUDA that somebody has", (*exam).saidFloor},
	{[]string{"CTR001"}, "nvidia-smi that works within the container", (*exam).smiInside},
	{[]string{"IDX001"}, "a cudatoolkit that the named channels do not have", (*exam).toolkitChannel},
	{[]string{"DRV021"}, "error 500 in a container on Windows", (*exam).unmappedLibrary},
}

// wholeDriver takes the newest release of a branch for the driver where its branch alone
// is told: what that one cannot run, none of the branch can.
func (e *exam) wholeDriver() {
	if e.Matrix == nil || e.Says.Branch == 0 || e.Machine.Driver != nil && !e.Machine.Driver.Version.IsZero() {
		return
	}
	v, err := e.Matrix.WholeDriver(dotted(strconv.Itoa(e.Says.Branch)), e.Machine.Platform.OS == "windows")
	if err != nil || strings.Count(v.String(), ".") == 0 {
		return
	}
	var d machine.Driver
	if e.Machine.Driver != nil {
		d = *e.Machine.Driver
	}
	d.Version = v
	e.Machine.Driver = &d
	e.From.Driver = e.Says.BranchAt
}

// saidCUDA is the CUDA that somebody says is there.
func (e *exam) saidCUDA() version.Dotted {
	if m := cudaWords().FindStringSubmatch(e.Says.CUDA.Text); m != nil {
		return dotted(m[1])
	}
	return version.Dotted{}
}

// saidFloor: nobody says which build of torch it is, and the CUDA that is there needs a
// newer driver. Programs of that CUDA fail on it, whatever brought them.
func (e *exam) saidFloor() {
	d, cuda := e.Machine.Driver, e.saidCUDA()
	if !e.Pasted || d == nil || d.Version.IsZero() || !e.Torch.CUDA.IsZero() || e.Torch.NoCUDA || e.available() || cuda.IsZero() {
		return
	}
	_, insufficient := e.has("cudart-insufficient")
	floor := e.floorOfOld(cuda)
	if floor.IsZero() || !d.Version.Less(floor) || !insufficient && !e.unavailable() &&
		e.Says.Unseen.IsZero() && !e.Says.Trouble && !e.Says.Asks {
		return
	}
	e.find("DRV005", strong+3, e.From.Driver, e.Says.CUDA, e.Torch.AvailableAt).
		says("driver %s is too old for CUDA %s, which needs %s or newer", d.Version, cuda, floor)
}

// floorOfOld is [exam.floor], also for the CUDA of times before the data begins.
func (e *exam) floorOfOld(cuda version.Dotted) version.Dotted {
	for _, row := range e.limit("driver-of-old-cuda").Values {
		if f := strings.Fields(row); f[0] == cuda.MajorMinor() {
			if e.windowsColumn() {
				return dotted(f[2])
			}
			return dotted(f[1])
		}
	}
	return e.floor(cuda)
}

// smiInside: a container in which nvidia-smi works was given a GPU.
func (e *exam) smiInside() {
	if !e.Says.SMIInside.IsZero() && e.From.NoGPU.IsZero() {
		e.drop("CTR001")
	}
}

// toolkitChannel: conda-forge has the cudatoolkit of every CUDA up to 11.8; the channel nvidia
// has few of them. Source: anaconda.org/conda-forge/cudatoolkit, anaconda.org/nvidia/cudatoolkit.
func (e *exam) toolkitChannel() {
	s, ok := e.has("conda-unsat")
	asked := e.Did.CondaCUDA
	if !ok || !strings.Contains(asked.Text, "cudatoolkit") || strings.Contains(asked.Text, "conda-forge") {
		return
	}
	e.find("IDX001", likely, s, asked).
		says("none of the channels that were named has this cudatoolkit; conda-forge has it").
		fix("the same command with `-c conda-forge` in place of `-c nvidia`",
			"or the build of today, which needs no cudatoolkit: {torch}").
		explains("PY026", "PY033", "PY025")
}

// unmappedLibrary: drivers of Windows from 555 on have a library more, which older
// container toolkits do not pass on. Source: NVIDIA/nvidia-container-toolkit issue 520.
func (e *exam) unmappedLibrary() {
	s, ok := e.has("cuda-symbol-500")
	if !ok || e.Place.Container.IsZero() || e.Place.WSL.IsZero() && !strings.Contains(strings.ToLower(e.From.OS.Text), "windows") {
		return
	}
	e.find("DRV021", likely, s, e.Place.Container, e.From.OS).
		says("the driver of Windows is newer than what passes it on to containers: CUDA in them misses a library of it (libnvdxgdmal.so.1)").
		fix("update Docker Desktop to 4.31 or newer; a Docker within WSL: NVIDIA's container toolkit to 1.15 or newer",
			"or a driver of Windows before 555").
		explains("CTR014")
}

// oldWindows: GPUs in WSL 2 begin with a release of Windows 10, whatever the driver.
// Source: docs.nvidia.com, CUDA on WSL user guide; learn.microsoft.com, GPU acceleration in WSL.
func (e *exam) oldWindows(said read.Evidence) bool {
	least := read.Atoi(e.limit("wsl-windows").Values[0])
	build := e.Place.WindowsBuild
	if build == 0 || build >= least {
		return false
	}
	e.find("CTR014", likely+5, e.Place.WindowsBuildAt, said, e.Place.WSL).
		says("this Windows is build %d, and WSL gives its Linux a GPU from build %d (Windows 10 21H2) on, or with Windows 11", build, least).
		fix("Windows Update, until `winver` says 21H2 or newer",
			"then `wsl --update`; where `wsl -l -v` says version 1: `wsl --set-version Ubuntu 2`, with the name that it lists",
			"the NVIDIA driver is Windows' own: none is installed within WSL").
		explains("DRV001", "DRV002", "DRV003", "CTR012", "CTR013", "CTR017")
	return true
}

// jetsonWays are where the builds for this Jetson are: its JetPack decides, and a board
// runs but some of them.
func (e *exam) jetsonWays() []string {
	generation := e.JetPack()
	var out []string
	for _, row := range e.limit("jetpack-wheels").Values {
		f := strings.SplitN(row, " ", 4) // JetPack, the boards it runs on, its Python, what to do
		if len(f) != 4 || generation != 0 && strconv.Itoa(generation) != f[0] || generation == 0 && !e.boardRuns(f[1]) {
			continue
		}
		out = append(out, fmt.Sprintf("JetPack %s, with its own Python %s: %s", f[0], f[2], f[3]))
	}
	if generation == 0 {
		out = append(out, "`cat /etc/nv_tegra_release` says which: R32 is JetPack 4, R35 is 5, R36 is 6, R38 is 7")
	}
	return append(out, "on the board `envfix doctor` says what is there")
}

// boardRuns reports whether one of these capabilities may be that of the board.
func (e *exam) boardRuns(capabilities string) bool {
	g := e.firstGPU(machine.NVIDIA)
	return g == nil || g.SM.IsZero() || slices.Contains(strings.Split(capabilities, ","), g.SM.String())
}
