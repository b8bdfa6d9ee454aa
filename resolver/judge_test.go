package resolver

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/version"
)

// The judge is a second resolver, slow and differently written: it reads the
// collected tables themselves (testdata/judge), not the matrix, shares no code
// with the rules, and compares versions as lists of numbers. It walks machines
// and finds a chosen build that lacks code for a GPU, falls below a driver
// floor, or is older than another that passes.
type judge struct {
	builds   []map[string]string
	floors   map[string]map[string]string
	branches []map[string]string
	gens     map[string]map[string]string // by compute capability
	cudnn    map[string]map[string]string // by version, CUDA major and architecture
	stack    map[string]string            // torch, variant, arch, capability → core_stack
}

func TestJudge(t *testing.T) {
	m := dataThen(t)
	j := readJudge(t)
	n := 10_000
	if os.Getenv("ENVFIX_LONG") != "" {
		n = 200_000
	}
	rnd := rand.New(rand.NewSource(1))
	installs, others := 0, 0
	known := map[string]bool{}
	for i := range n {
		c := j.draw(rnd)
		key := fmt.Sprint(c)
		if known[key] { // the same class of machine was judged before
			installs++
			continue
		}
		s, err := newProblem(m, c.machine(), c.request(t))
		if err != nil {
			t.Fatal(err)
		}
		res := &s.chooser().decide().Resolution // the bare answer: reasons and nearest answers are not judged
		if wrong := j.check(c, res); wrong != "" {
			t.Errorf("machine %d %+v: %s\n\t%s", i, c, wrong, strings.Join(render(res), "\n\t"))
			if others++; others > 10 {
				t.FailNow()
			}
			continue
		}
		known[key] = true
		if res.Decision == Install {
			installs++
		}
	}
	t.Logf("%d machines judged (%d different), %d of them run a build as they are", n, len(known), installs)
}

// drawn is one machine of the walk.
type drawn struct {
	os, arch, glibc, driver, python string
	wsl, onlyDefault                bool
	pin                             string   // a minor release of torch, "" any
	gpus                            []string // capabilities
}

func (j *judge) draw(r *rand.Rand) drawn {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	d := drawn{os: "linux", arch: "x86_64", glibc: pick("2.17", "2.27", "2.28", "2.35", "2.39"),
		python: pick("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")}
	switch r.Intn(8) {
	case 0:
		d.os, d.glibc = "windows", ""
	case 1:
		d.wsl = true
	case 2:
		d.arch = "aarch64"
	}
	b := j.branches[r.Intn(len(j.branches))]
	d.driver = b["linux_latest"]
	if d.os == "windows" || d.wsl {
		d.driver = b["windows_latest"]
	}
	if d.driver == "" {
		d.driver = "580.65.06"
	}
	if r.Intn(4) == 0 {
		d.driver = pick("450.80.02", "450.119.04", "525.60.13", "527.41", "528.33", "570.26", "580.65.06", "535.54.03", "550.54.14")
	}
	ccs := []string{"3.5", "3.7", "5.0", "5.2", "6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1"}
	if d.arch == "aarch64" {
		ccs = []string{"7.5", "8.0", "9.0", "10.0", "10.3", "12.1"}
	}
	if r.Intn(5) == 0 {
		d.pin = pick("2.0", "2.3", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.13", "2.14", "2.15")
	}
	d.onlyDefault = r.Intn(10) == 0
	for range 1 + r.Intn(3)/2 {
		d.gpus = append(d.gpus, ccs[r.Intn(len(ccs))])
	}
	return d
}

func (d drawn) request(t interface{ Fatal(...any) }) Request {
	r := Request{Python: d.python}
	text := "torch"
	if d.pin != "" {
		text += "==" + d.pin + ".*"
	}
	if d.onlyDefault {
		r.OnlyIndex = "default"
	}
	r.Requirements = parsed(t, text)
	return r
}

func (d drawn) machine() machine.Machine {
	h := machine.Machine{Format: 1, Platform: machine.Platform{OS: d.os, Arch: d.arch}, Driver: &machine.Driver{Version: version.MustDotted(d.driver)}}
	if d.glibc != "" {
		h.Platform.Libc = &machine.Libc{Kind: "glibc", Version: version.MustDotted(d.glibc)}
	}
	if d.wsl {
		h.Platform.Environment = machine.WSL2
	}
	for i, cc := range d.gpus {
		h.GPUs = append(h.GPUs, machine.GPU{Index: i, Vendor: machine.NVIDIA, Name: "GPU " + cc, SM: machine.MustSM(cc), Visible: true})
	}
	return h
}

// check judges one answer. Answers that change the driver or leave GPUs out are
// judged by one question: was there really no build for the machine as it is?
func (j *judge) check(d drawn, res *Resolution) string {
	best := ""
	for _, b := range j.builds {
		if j.runs(d, b) == "" && (best == "" || newerNumbers(b["torch"], best)) {
			best = b["torch"]
		}
	}
	if why := j.bounds(d, res); why != "" {
		return why
	}
	if res.Decision != Install {
		if best != "" && res.Decision != Split { // two environments may be better than PTX or one module
			return "torch " + best + " runs on the machine as it is"
		}
		return ""
	}
	for _, b := range j.builds {
		if b["torch"] != res.Choice.Torch || b["variant"] != res.Choice.Build || b["os"] != d.os || b["arch"] != d.arch {
			continue
		}
		if why := j.runs(d, b); why != "" {
			return "the choice does not run: " + why
		}
		if newerNumbers(best, res.Choice.Torch) {
			return "torch " + best + " is newer and runs"
		}
		return ""
	}
	return "the choice is not in the tables"
}

// bounds: NumPy's ABI changed with 2.0, which torch knows from 2.3 on, on Windows from
// 2.4 on (pytorch/pytorch#132179); and the minimum of an upgrade is that of its torch.
func (j *judge) bounds(d drawn, res *Resolution) string {
	for _, c := range []*Choice{res.Choice, res.Then, res.Fallback} {
		if c == nil {
			continue
		}
		first := "2.3"
		if d.os == "windows" {
			first = "2.4"
		}
		if old := newerNumbers(first, c.Torch); old != slices.Contains(c.Holds, "numpy<2") {
			return "NumPy beside torch " + c.Torch + ": " + strings.Join(c.Holds, ", ")
		}
	}
	column := "min_driver_linux"
	if d.os == "windows" || d.wsl {
		column = "min_driver_windows"
	}
	if res.Decision == UpgradeDriver && newerNumbers(j.floors[res.Then.Build][column], res.Driver.Minimum.String()) {
		return "torch " + res.Then.Torch + " " + res.Then.Build + " needs more than the minimum " + res.Driver.Minimum.String()
	}
	return ""
}

// runs says why a build does not run on a machine, "" where it does.
func (j *judge) runs(d drawn, b map[string]string) string {
	switch status := b["channel_status"]; {
	case b["os"] != d.os || b["arch"] != d.arch || !strings.HasPrefix(b["variant"], "cu"):
		return "another system"
	case status == "not seen" || strings.HasPrefix(status, "limited"):
		return "not offered"
	case d.pin != "" && !strings.HasPrefix(b["torch"], d.pin+"."):
		return "another torch"
	case d.onlyDefault && b["is_pypi_default"] != "yes":
		return "another index"
	case number(d.python, 1) < number(b["python_min"], 1) || number(d.python, 1) > number(b["python_max"], 1):
		return "python"
	case d.glibc != "" && b["glibc_floor"] != "" && newerNumbers(b["glibc_floor"], d.glibc):
		return "glibc"
	}
	column := "min_driver_linux"
	if d.os == "windows" || d.wsl {
		column = "min_driver_windows"
	}
	if floor := j.floors[b["variant"]][column]; floor == "" || newerNumbers(floor, d.driver) {
		return "driver floor " + floor
	}
	for _, cc := range d.gpus {
		if why := j.gpu(d, b, cc); why != "" {
			return why
		}
	}
	if len(d.gpus) > 1 && j.modulesClash(d) {
		return "no kernel module drives all"
	}
	return ""
}

// withoutHalf is PTX for GPUs that know no half precision: torch ends in it.
var withoutHalf = regexp.MustCompile(`\b(3\d|50|52)[af]?\b`)

func (j *judge) gpu(d drawn, b map[string]string, cc string) string {
	if !j.driven(d, cc) {
		return "the driver does not drive " + cc
	}
	native, ptx := hasCode(b["sm_list"], cc), hasPTX(withoutHalf.ReplaceAllString(b["ptx"], ""), cc)
	if !native && (!ptx || newerNumbers(b["cuda_toolkit"][:strings.LastIndexByte(b["cuda_toolkit"]+".", '.')], j.reported(d))) {
		return "no code for " + cc
	}
	if lib, ok := j.cudnn[b["cudnn"]+" "+strconv.Itoa(number(b["cuda_toolkit"], 0))+" "+d.arch]; ok && !hasCode(lib["sm_list"], cc) && !hasPTX(lib["ptx_list"], cc) {
		return "cuDNN has no code for " + cc
	}
	if d.os == "linux" && j.stack[b["torch"]+" "+b["variant"]+" "+d.arch+" "+cc] == "no" {
		return "the stack has no code for " + cc
	}
	if len(d.gpus) > 1 && number(cc, 0) == 5 && b["nccl"] != "" && number(b["cuda_toolkit"], 0) == 12 && !newerNumbers("2.28.3", b["nccl"]) {
		return "NCCL for CUDA 12 dropped 5.x at 2.28.3" // facts/nvidia/stack.md
	}
	return ""
}

// driven: the generation's first and last branch, from the capability table.
func (j *judge) driven(d drawn, cc string) bool {
	g := j.gens[cc]
	major := number(d.driver, 0)
	if last, err := strconv.Atoi(g["last_driver_branch"]); err == nil && j.branch(d) > last {
		return false
	}
	first := map[string]string{"8.0": "450.36", "8.6": "455.23", "8.9": "520.56", "9.0": "520.61"}[cc]
	if number(cc, 0) >= 10 {
		first = "570.26" // driver_minimums.csv
		if d.os == "windows" || d.wsl {
			first = "570.65"
		}
	} else if (d.os == "windows" || d.wsl) && first != "" {
		first = map[string]string{"8.0": "451.22", "8.6": "456.38", "8.9": "522.25", "9.0": "522.25"}[cc]
	}
	return major > 0 && (first == "" || !newerNumbers(first, d.driver))
}

// modulesClash: Maxwell to Volta need the proprietary kernel module, Blackwell
// the open one (arch_driver.csv).
func (j *judge) modulesClash(d drawn) bool {
	old, recent := false, false
	for _, cc := range d.gpus {
		old = old || number(cc, 0) < 7 || cc == "7.0"
		recent = recent || number(cc, 0) >= 10
	}
	return old && recent && d.os == "linux" && !d.wsl
}

// branch is the number of the driver's branch: Windows counts on within one.
func (j *judge) branch(d drawn) int {
	best := 0
	for _, b := range j.branches {
		if n := number(b["branch"], 0); n <= number(d.driver, 0) && n > best {
			best = n
		}
	}
	return best
}

// reported is the CUDA that the driver's branch reports.
func (j *judge) reported(d drawn) string {
	for _, b := range j.branches {
		if number(b["branch"], 0) == j.branch(d) {
			return b["cuda_reported"]
		}
	}
	return ""
}
