package resolver

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"envfix/internal/machine"
)

// TestJudgeBeside judges what the judge's own walk does not draw: Macs, packages beside
// torch, kernels compiled at run time, machines without a GPU, conda, a team's policy.
// The rules are written here once more, as short tables from the wheels' own texts, and
// share nothing with the matrix.
func TestJudgeBeside(t *testing.T) {
	m := dataThen(t)
	j := readJudge(t)
	n := 10_000
	if os.Getenv("ENVFIX_LONG") != "" {
		n = 200_000
	}
	rnd := rand.New(rand.NewSource(2))
	kinds := []func(*judge, *rand.Rand) beside{judgeMac, judgePackage, judgeTags, judgeJIT, judgeCPU, judgePolicy, judgeConda}
	wrong, chosen, known := 0, map[string]int{}, map[string]bool{}
	for range n {
		c := kinds[rnd.Intn(len(kinds))](j, rnd)
		c.request.Requirements = append(c.request.Requirements, parsed(t, strings.Fields(c.wish)...)...)
		key := c.kind + c.text + fmt.Sprint(c.request)
		if known[key] {
			continue
		}
		known[key] = true
		s, err := newProblem(m, c.machine, c.request)
		if err != nil {
			t.Fatal(err)
		}
		res := &s.chooser().decide().Resolution
		if c.kind == "conda" { // its remarks are judged too
			res = s.advice().finish(s.chooser().decide())
		}
		if why := c.wrong(res); why != "" {
			t.Errorf("%s, %q: %s\n\t%s", c.text, c.wish, why, strings.Join(render(res), "\n\t"))
			if wrong++; wrong > 10 {
				t.FailNow()
			}
		}
		if res.Choice != nil {
			chosen[c.kind]++
		}
	}
	for _, kind := range []string{"mac", "package", "tags", "jit", "cpu", "policy", "conda"} {
		if chosen[kind] == 0 {
			t.Errorf("no machine of kind %s was served: nothing was judged", kind)
		}
	}
	t.Logf("%d machines drawn, %d different judged, served: %v", n, len(known), chosen)
}

// beside is one machine with a wish, and what is wrong with an answer for it.
type beside struct {
	kind, text, wish string
	machine          machine.Machine
	request          Request
	wrong            func(*Resolution) string
}

// offered is the judge's own word on rows of wheels that nobody saw.
func offered(b map[string]string) bool {
	return b["channel_status"] != "not seen" && !strings.HasPrefix(b["channel_status"], "limited")
}

func pickOf(r *rand.Rand, list ...string) string { return list[r.Intn(len(list))] }

// judgeMac: the texts in the wheels ask for macOS 14 from 2.9 on; 13 from 2.5 on and
// 12.3 before are from pytorch/pytorch#133141 and #139425. Wheels from 2.12 on have the
// tag macosx_14_0.
func judgeMac(j *judge, r *rand.Rand) beside {
	release := pickOf(r, "12.3", "12.7", "13.0", "13.7", "14.0", "14.6", "15.1", "26.0")
	python := pickOf(r, "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
	least := func(torch string) string {
		switch {
		case !newerNumbers("2.9", torch):
			return "14.0"
		case !newerNumbers("2.5", torch):
			return "13.0"
		}
		return "12.3"
	}
	best := ""
	for _, b := range j.builds {
		if b["os"] == "macos" && b["arch"] == "arm64" && offered(b) && !newerNumbers(least(b["torch"]), release) &&
			number(python, 1) >= number(b["python_min"], 1) && number(python, 1) <= number(b["python_max"], 1) && (best == "" || newerNumbers(b["torch"], best)) {
			best = b["torch"]
		}
	}
	return beside{kind: "mac", text: "macOS " + release + ", Python " + python, wish: "torch", request: Request{Python: python},
		machine: machine.Machine{Format: 1, Platform: machine.Platform{OS: "macos", Arch: "arm64", DistroVersion: release},
			GPUs: []machine.GPU{{Vendor: machine.Apple, Name: "Apple M2", Visible: true}}},
		wrong: func(res *Resolution) string {
			switch {
			case best == "" && res.Decision == Install:
				return "no wheel computes on this GPU"
			case best != "" && (res.Decision != Install || res.Choice.Torch != best):
				return "torch " + best + " computes on this GPU"
			}
			return ""
		}}
}

// nvidiaHost is a Linux machine with one GPU.
func nvidiaHost(cc, driver, glibc string) machine.Machine {
	return drawn{os: "linux", arch: "x86_64", glibc: glibc, driver: driver, gpus: []string{cc}}.machine()
}

// judgePackage: torchcodec's own table; the floor in transformers' import_utils.py; NumPy
// 2 from 2.3 on; the platform tags of vllm's wheels.
func judgePackage(_ *judge, r *rand.Rand) beside {
	codec := map[string]string{"2.5": "0.1", "2.6": "0.2", "2.7": "0.3 0.4 0.5", "2.8": "0.6 0.7", "2.9": "0.8 0.9", "2.10": "0.10"}
	torch := pickOf(r, "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10")
	name, glibc := pickOf(r, "torchcodec", "transformers", "numpy", "vllm"), pickOf(r, "2.28", "2.31", "2.35")
	c := beside{kind: "package", text: "torch " + torch + ", glibc " + glibc, wish: "torch==" + torch + ".* " + name,
		request: Request{Python: pickOf(r, "3.10", "3.11"), OnlyIndex: "default"}, machine: nvidiaHost("8.6", "580.95.05", glibc)}
	c.wrong = func(res *Resolution) string {
		if res.Choice == nil {
			return ""
		}
		v, holds := res.Choice.Packages[name], strings.Join(res.Choice.Holds, " ")
		switch name {
		case "torchcodec":
			var below int // no row is of this torch: the installer takes the newest below what rows are of later ones
			if _, err := fmt.Sscanf(holds, "torchcodec<0.%d", &below); v == "" && err == nil {
				v = fmt.Sprintf("0.%d", below-1)
			}
			if want, ok := codec[torch]; ok && !slices.ContainsFunc(strings.Fields(want), func(w string) bool { return v == w || strings.HasPrefix(v, w+".") }) {
				return "torchcodec " + v + " does not load: it was built for another torch"
			}
		case "transformers":
			limit := map[string]string{"2.1": "<5.0", "2.2": "<5.1", "2.3": "<5.1", "2.4": "<5.15", "2.5": "<5.20"}[torch]
			if got := strings.Contains(holds, "transformers"); got != (limit != "") || limit != "" && !strings.Contains(holds+" ", "transformers"+limit+" ") {
				return "transformers is held by " + holds + ", not " + limit
			}
		case "numpy":
			if strings.Contains(holds, "numpy<2") != newerNumbers("2.3", torch) {
				return "NumPy is held by " + holds
			}
		case "vllm":
			if newerNumbers(v, "0.11.99") && newerNumbers("0.20", v) && newerNumbers("2.31", glibc) {
				return "vllm " + v + " has wheels for glibc 2.31 and newer"
			}
		}
		return ""
	}
	return c
}

// judgeJIT: triton from torch 2.12 on carries a ptxas of CUDA 13 for Blackwell, whose code
// a driver before 580 does not load.
func judgeJIT(_ *judge, r *rand.Rand) beside {
	cc, driver := pickOf(r, "10.0", "12.0"), pickOf(r, "570.211.01", "575.57.08", "580.95.05", "595.71.05")
	return beside{kind: "jit", text: "GPU " + cc + ", driver " + driver, wish: "torch", machine: nvidiaHost(cc, driver, "2.35"),
		request: Request{Python: pickOf(r, "3.11", "3.12"), JIT: true, Build: pickOf(r, "", "", "cu129")},
		wrong: func(res *Resolution) string {
			if res.Decision == Install && newerNumbers("580", driver) && newerNumbers(res.Choice.Torch, "2.11.99") {
				return "triton of torch " + res.Choice.Torch + " assembles with CUDA 13"
			}
			if res.Decision == Install && res.Choice.Build == "cu132" && newerNumbers("595", driver) {
				return "it compiles with CUDA 13.2, and the driver supports less"
			}
			return ""
		}}
}

// judgeCPU: without a GPU the default index serves, though its wheel is a CUDA build.
func judgeCPU(j *judge, r *rand.Rand) beside {
	os, arch, glibc := pickOf(r, "linux", "linux", "windows"), pickOf(r, "x86_64", "aarch64"), pickOf(r, "2.17", "2.28", "2.39")
	if os == "windows" {
		arch, glibc = "x86_64", ""
	}
	python := pickOf(r, "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
	best := ""
	for _, b := range j.builds {
		if b["os"] == os && b["arch"] == arch && b["is_pypi_default"] == "yes" && offered(b) &&
			number(python, 1) >= number(b["python_min"], 1) && number(python, 1) <= number(b["python_max"], 1) &&
			(glibc == "" || b["glibc_floor"] == "" || !newerNumbers(b["glibc_floor"], glibc)) && (best == "" || newerNumbers(b["torch"], best)) {
			best = b["torch"]
		}
	}
	h := drawn{os: os, arch: arch, glibc: glibc, driver: "580.95.05"}.machine()
	h.Driver = nil
	return beside{kind: "cpu", text: fmt.Sprintf("%s %s, glibc %s, Python %s", os, arch, glibc, python), wish: "torch", machine: h,
		request: Request{Python: python, OnlyIndex: "default"},
		wrong: func(res *Resolution) string {
			switch {
			case best == "" && res.Choice != nil:
				return "no wheel of the default index is for it"
			case best != "" && (res.Decision != InstallCPU || res.Choice.Torch != best):
				return "torch " + best + " of the default index computes on the CPU"
			}
			return ""
		}}
}

// judgePolicy: whatever a team excludes is in no choice.
func judgePolicy(j *judge, r *rand.Rand) beside {
	p := &Policy{}
	if r.Intn(2) == 0 {
		p.Driver = []int{525, 550, 580}[r.Intn(3)]
	}
	if r.Intn(2) == 0 {
		p.CUDA = []string{pickOf(r, "12.6", "12.8", "13", "12", "11.8")}
	}
	if r.Intn(3) == 0 {
		p.Indexes = []string{pickOf(r, "default", "pytorch")}
	}
	never := pickOf(r, "", "xformers")
	if never != "" {
		p.Never = []string{never}
	}
	d := j.draw(r)
	d.onlyDefault, d.pin = false, ""
	wish := pickOf(r, "torch", "torch xformers")
	return beside{kind: "policy", text: fmt.Sprintf("%+v under %+v", d, *p), wish: wish, machine: d.machine(),
		request: Request{Python: d.python, Policy: p},
		wrong: func(res *Resolution) string {
			for _, c := range []*Choice{res.Choice, res.Then, res.Fallback} {
				switch {
				case c == nil || c.CUDA == "":
				case len(p.CUDA) > 0 && c.CUDA != p.CUDA[0] && !strings.HasPrefix(c.CUDA, p.CUDA[0]+"."):
					return "CUDA " + c.CUDA + " is not admitted"
				case len(p.Indexes) > 0 && (c.Index == nil) != (p.Indexes[0] == "default"):
					return "its index is not admitted"
				case never != "" && c.Packages[never] != "":
					return never + " is never installed"
				}
			}
			if only := len(p.CUDA) == 0 && p.Driver == 0 && len(p.Indexes) > 0 && p.Indexes[0] == "pytorch"; only && wish == "torch" {
				if why := j.check(d, res); why != "" { // PyTorch's own index has every build
					return why
				}
			}
			if res.Decision == Install && res.Choice.CUDA != "" && number(d.driver, 0) < p.Driver {
				return "driver " + d.driver + " is older than the policy's branch"
			}
			return ""
		}}
}

// judgeConda: conda-forge's builds for CUDA 12.9 have code for Volta, those for 13 none;
// before Turing cuDNN has to be older than 9.11.
func judgeConda(_ *judge, r *rand.Rand) beside {
	cc, driver := pickOf(r, "6.1", "7.0", "7.5", "9.0"), pickOf(r, "535.183.01", "570.211.01", "580.95.05")
	return beside{kind: "conda", text: "GPU " + cc + ", driver " + driver, wish: "torch", machine: nvidiaHost(cc, driver, "2.35"),
		request: Request{Python: pickOf(r, "3.10", "3.12"), Manager: "conda", CUDA: pickOf(r, "", "12.9")},
		wrong: func(res *Resolution) string {
			c := res.Choice
			switch {
			case c == nil:
				return ""
			case c.Channel == "pip":
				return "it comes from pip"
			case newerNumbers("7.5", cc) && number(c.CUDA, 0) >= 13:
				return "CUDA 13 has no code for " + cc
			case number(c.CUDA, 0) >= 13 && newerNumbers("580", driver):
				return "CUDA 13 needs driver 580"
			case newerNumbers("7.5", cc) && c.CUDA == "12.9" && !strings.Contains(strings.Join(remarksOf(res), " "), "cudnn<9.11"):
				return "cuDNN is not held below 9.11"
			}
			return ""
		}}
}

// remarksOf are the sentences of an answer and what it holds.
func remarksOf(res *Resolution) []string {
	return slices.Concat(res.Warnings, res.Choice.Holds, []string{fmt.Sprint(res.Choice.Packages)})
}
