package ui

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"envfix/installers"
	"envfix/internal/machine"
	"envfix/internal/observe/verdict"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected texts")

func host(gpus ...machine.GPU) machine.Machine {
	return machine.Machine{
		Format:    1,
		Platform:  machine.Platform{OS: "linux", Arch: "x86_64", Distro: "ubuntu", DistroVersion: "24.04", Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.39")}, Kernel: "6.8.0-45-generic"},
		Privilege: "sudo", GPUs: gpus,
		Pythons: []machine.Python{{Version: "3.12.4", Path: "/usr/bin/python3", Active: true, Source: "system"}},
		Tools:   []machine.Tool{{Name: "uv", Path: "/usr/bin/uv"}},
		Env:     map[string]string{},
	}
}

func gpu(name, sm string) machine.GPU {
	return machine.GPU{Vendor: "nvidia", Name: name, SM: machine.MustSM(sm), Visible: true, MemoryBytes: 32 << 30}
}

func combination(torch, build, cuda string) *resolver.Choice {
	index := "https://download.pytorch.org/whl/" + build
	return &resolver.Choice{Torch: torch, Build: build, CUDA: cuda, CuDNN: "9.10.2.21", Python: "3.12", Channel: "pip", Index: &index,
		Packages: map[string]string{"torch": torch + "+" + build, "torchvision": "0.29.1+" + build}, Arches: []string{"sm_70"}}
}

// texts are the plans whose text is kept in testdata.
func texts() map[string]func() (machine.Machine, resolver.Request, *resolver.Resolution) {
	type answer = func() (machine.Machine, resolver.Request, *resolver.Resolution)
	return map[string]answer{
		"install": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host(gpu("Tesla V100-SXM2-32GB", "7.0"), gpu("Tesla V100-SXM2-32GB", "7.0"))
			h.Driver = &machine.Driver{Version: version.MustDotted("580.95.05"), KernelModule: "proprietary"}
			h.Env["LD_LIBRARY_PATH"] = "/opt/site/lib:/usr/local/cuda-12.3/lib64"
			h.Env["HTTPS_PROXY"] = "http://proxy.example:3128"
			h.LibraryDirs = []machine.LibraryDir{{Path: "/usr/local/cuda-12.3/lib64", Files: []string{"libcudnn.so.9", "libcublas.so.12"}, From: "~/.bashrc:12"}}
			return h, resolver.Request{}, &resolver.Resolution{Decision: resolver.Install, Choice: combination("2.14.1", "cu126", "12.6"),
				Driver: resolver.DriverChoice{Action: "keep", Minimum: version.MustDotted("525.60.13")},
				Told: resolver.Told{Reasons: []resolver.Reason{{Rule: "request", Text: "nothing is against it"}, {Rule: "gpu-code", Text: "has code for the Tesla V100-SXM2-32GB (7.0): sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"}, {Rule: "driver-floor", Text: "580.95.05 is not older than 525.60.13"}},
					Warnings: []string{"semi-structured sparsity does not run below compute capability 8.0"},
					HeldBack: "torch 2.15.0 has no code for 7.0; it begins with 7.5"},
			}
		},
		"nothing": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host(gpu("Tesla V100", "7.0"))
			h.Driver = &machine.Driver{Version: version.MustDotted("580.95.05")}
			h.Installed = []machine.Package{{Name: "torch", Version: "2.14.1+cu126"}, {Name: "torchvision", Version: "0.29.1+cu126"}}
			return h, resolver.Request{}, &resolver.Resolution{Decision: resolver.Install, Choice: combination("2.14.1", "cu126", "12.6"), Driver: resolver.DriverChoice{Action: "keep"}}
		},
		"cpu": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			c := combination("2.14.1", "cpu", "")
			c.CuDNN = ""
			return host(), resolver.Request{}, &resolver.Resolution{Decision: resolver.InstallCPU, Choice: c, Driver: resolver.DriverChoice{Action: "none"}, Told: resolver.Told{Warnings: []string{"there is no GPU: everything is computed on the CPU"}}}
		},
		"fix_driver": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			g := gpu("GeForce RTX 4060", "8.9")
			g.Visible, g.KernelDriver = false, "nouveau"
			return host(g), resolver.Request{}, &resolver.Resolution{Decision: resolver.FixDriver,
				Driver: resolver.DriverChoice{Action: "install", Minimum: version.MustDotted("580.65.06"), Branch: "580", KernelModule: "open"},
				Told: resolver.Told{Then: combination("2.15.0", "cu132", "13.2"),
					Reasons: []resolver.Reason{{Rule: "driver", Text: "nouveau drives the GPU, and CUDA does not run on it"}}}}
		},
		"upgrade_driver": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host(gpu("NVIDIA GeForce RTX 5090", "12.0"))
			h.Driver = &machine.Driver{Version: version.MustDotted("570.172.08"), KernelModule: "open"}
			return h, resolver.Request{Described: true}, &resolver.Resolution{Decision: resolver.UpgradeDriver,
				Driver: resolver.DriverChoice{Action: "upgrade", Minimum: version.MustDotted("580.65.06"), Branch: "580", KernelModule: "open"},
				Told: resolver.Told{Then: combination("2.15.0", "cu132", "13.2"), Fallback: combination("2.11.0", "cu128", "12.8"),
					Reasons: []resolver.Reason{{Rule: "driver-floor", Text: "torch 2.15.0 needs CUDA 13, and that a driver from 580.65.06 on"}}}}
		},
		"split": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host(gpu("GeForce GTX 1080 Ti", "6.1"), gpu("GeForce RTX 5090", "12.0"))
			h.Driver = &machine.Driver{Version: version.MustDotted("580.95.05")}
			return h, resolver.Request{}, &resolver.Resolution{Decision: resolver.Split, Driver: resolver.DriverChoice{Action: "keep"}, Told: resolver.Told{Environments: []resolver.Environment{
				{GPUs: []int{0}, CUDAVisible: "0", Choice: combination("2.14.1", "cu126", "12.6")},
				{GPUs: []int{1}, CUDAVisible: "1", Choice: combination("2.15.0", "cu132", "13.2")},
			}}}
		},
		"no_solution": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host(gpu("Tesla V100", "7.0"))
			h.Driver = &machine.Driver{Version: version.MustDotted("580.65.06")}
			return h, resolver.Request{}, &resolver.Resolution{Decision: resolver.NoSolution,
				Told: resolver.Told{Reasons: []resolver.Reason{{Rule: "gpu-code", Text: "torch 2.15.0+cu132 has no code for 7.0; the oldest it supports is 7.5"}, {Rule: "request", Text: "torch 2.14.1+cu126 is not for CUDA 13, which was asked for"}},
					Nearest: []resolver.Nearest{{Change: "drop `--cuda 13.0`", Torch: "2.14.1", Build: "cu126"}}, Alternatives: []string{"conda-forge: pytorch 2.13, cuda12.9"}}}
		},
		"need_target": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host()
			h.Platform.Environment = machine.ContainerBuild
			return h, resolver.Request{}, &resolver.Resolution{Decision: resolver.NeedTarget}
		},
		"hostile": func() (machine.Machine, resolver.Request, *resolver.Resolution) {
			h := host(gpu("\x1b[31m$(touch pwned)\n\u202e; rm -rf ~ '\"", "7.0"))
			h.Platform.Distro = "ub\x07untu"
			h.Driver = &machine.Driver{Version: version.MustDotted("580.95.05"), KernelModule: "op\x1b]0;x\x07en"}
			h.Env["LD_LIBRARY_PATH"] = "/usr/local/cuda\x1b[2J"
			c := combination("2.14.1", "cu126", "12.6")
			c.Packages["torchvision"] = "0.29.1\x1b[1m"
			return h, resolver.Request{}, &resolver.Resolution{Decision: resolver.Install, Choice: c, Driver: resolver.DriverChoice{Action: "keep"},
				Told: resolver.Told{Warnings: []string{"see \x9b31m this\r\nand that"}, Reasons: []resolver.Reason{{Rule: "gpu\x00code", Text: "bell \x07"}}, HeldBack: "\x1b]8;;x\x1b\\link"}}
		},
	}
}

func golden(t *testing.T, name string) string {
	t.Helper()
	h, r, res := texts()[name]()
	p, err := installers.Plan(&matrix.Matrix{}, h, r, res, plan.Target{Dir: ".venv"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Decision == resolver.NoSolution || p.Decision == resolver.NeedTarget {
		return Error(Refusal(p))
	}
	long := Style{Verbose: true}
	return Plan(p, Style{}) + Next(p, []string{}, Style{}) + "---- -v\n" + Plan(p, long) + Next(p, []string{}, long) + "---- alone\n" + Home(Dashboard{Plan: p, Environment: "environment .venv (active)"}, Style{})
}

func TestTexts(t *testing.T) {
	for name := range texts() {
		t.Run(name, func(t *testing.T) {
			got := golden(t, name)
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if n := len([]rune(line)); n > Width && !strings.HasPrefix(line, "envfix: error:") && !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "  ") {
					t.Errorf("a line of %d columns: %s", n, line)
				}
				for _, r := range line {
					if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
						t.Errorf("%U reaches the terminal: %q", r, line)
					}
				}
			}
		})
	}
}

func TestVerbose(t *testing.T) {
	h, r, res := texts()["install"]()
	p, err := installers.Plan(&matrix.Matrix{}, h, r, res, plan.Target{Dir: ".venv"})
	if err != nil {
		t.Fatal(err)
	}
	const reason = "nothing is against it"
	if strings.Contains(Plan(p, Style{}), reason) || !strings.Contains(Plan(p, Style{Verbose: true}), reason) {
		t.Error("a reason that nobody asks about is for --verbose alone")
	}
}

// Colour marks what stands there anyway.
func TestColour(t *testing.T) {
	h, r, res := texts()["install"]()
	p, err := installers.Plan(&matrix.Matrix{}, h, r, res, plan.Target{Dir: ".venv"})
	if err != nil {
		t.Fatal(err)
	}
	for _, verbose := range []bool{false, true} {
		painted := Plan(p, Style{Color: true, Verbose: verbose}) + Next(p, []string{}, Style{Color: true})
		bare := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(painted, "")
		for what, code := range map[string]string{"the choice": "\x1b[1;32mtorch 2.14.1, build cu126", "a warning": "\x1b[33mwarning:", "a command": "\x1b[36m`envfix apply`"} {
			if !strings.Contains(painted, code) {
				t.Errorf("%s is not painted in\n%q", what, painted)
			}
		}
		if diff := cmp.Diff(Plan(p, Style{Verbose: verbose})+Next(p, []string{}, Style{}), bare); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAssignments(t *testing.T) {
	all := []Assignment{{Name: "PATH", Value: "/my env's/bin", Kind: Prepend}, {Name: "LD_LIBRARY_PATH", Kind: Unset}, {Name: "PYTHONPATH", Value: "/a:/b"}, {Name: "VIRTUAL_ENV", Value: `/c\d`}}
	for shell, want := range map[string]string{
		"sh": `export PATH="/my env's/bin""${PATH:+:$PATH}"
unset LD_LIBRARY_PATH
export PYTHONPATH=/a:/b
export VIRTUAL_ENV='/c\d'
`,
		"fish": `set -gx PATH '/my env\'s/bin' $PATH
set -e LD_LIBRARY_PATH
set -gx PYTHONPATH (string split : -- '/a:/b')
set -gx VIRTUAL_ENV '/c\\d'
`,
		"powershell": `$env:PATH = '/my env''s/bin' + [IO.Path]::PathSeparator + $env:PATH
Remove-Item -ErrorAction SilentlyContinue Env:LD_LIBRARY_PATH
$env:PYTHONPATH = '/a:/b'
$env:VIRTUAL_ENV = '/c\d'
`,
	} {
		form := Assignments(shell, all)
		got, err := form.String(), form.Err()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", shell, diff)
		}
	}
}

func TestWrapKeepsPercent(t *testing.T) {
	want := []string{"idle of the time:", "78 % of it"}
	if diff := cmp.Diff(want, Wrap("idle of the time: 78 % of it", 20)); diff != "" {
		t.Error(diff)
	}
}

// Whatever the width of the terminal, no line is longer but for a word that is longer
// than a line, and such a word stands alone.
func TestWidths(t *testing.T) {
	for name := range texts() {
		h, r, res := texts()[name]()
		p, err := installers.Plan(&matrix.Matrix{}, h, r, res, plan.Target{Dir: ".venv"})
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{40, 60, 80, 100, 200} {
			for _, verbose := range []bool{false, true} {
				s := Style{Width: width, Verbose: verbose}
				text := Plan(p, s) + Next(p, []string{}, s) + s.Error("", []string{"rule  " + strings.Repeat("some words ", 20)}, []string{strings.Repeat("`envfix plan` says ", 12)})
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					words := strings.Fields(strings.TrimSuffix(line, `\`))
					if columns(line) > width && len(words) > 1 && !strings.HasPrefix(line, "envfix: error:") {
						t.Errorf("%s at %d columns: %q", name, width, line)
					}
				}
				if width == 100 && !strings.Contains(text, strings.Repeat("some words ", 6)) {
					t.Errorf("%s: 100 columns are not used:\n%s", name, text)
				}
			}
		}
	}
}

// A command stays on one line, so that it can be copied; a lone backtick in
// somebody's text ties nothing together.
func TestWrapKeepsCommands(t *testing.T) {
	got := Wrap("end what uses it, then `sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm` again", 30)
	want := []string{"end what uses it, then", "`sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm`", "again"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = Wrap("a lone ` in a text that goes on", 12)
	if d := cmp.Diff([]string{"a lone ` in", "a text that", "goes on"}, got); d != "" {
		t.Error(d)
	}
}

func TestVerdictNumbers(t *testing.T) {
	r := verdict.Report{Finding: verdict.Finding{Verdict: "loader_bound", Confidence: "high", Gain: verdict.Gain{"steps_per_s": {700, 2140}}},
		Processes: []verdict.ProcessReport{{Try: &verdict.Try{Args: "num_workers=4", Steps: 25, RateB: 96, RateA: 410, Compared: 400}}}}
	got := Verdict(r, 0, Style{})
	for _, want := range []string{"gain: 700 → 2140 steps", "96 samples a second before, 410 with it", "the same 400 samples"} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(got, "envfix:", "")), " "), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// An answer that installs what no release has a wheel for says how it comes.
func TestWhyBuilt(t *testing.T) {
	for status, says := range map[string]bool{"refused": true, "runs": false} {
		c := &resolver.Case{Releases: []resolver.PackageRelease{{Version: "2.0", Status: status, Text: "x"}, {Version: "1.0", Status: "refused", Text: "x"}},
			Resolution: &resolver.Resolution{Decision: resolver.InstallCPU, Choice: &resolver.Choice{Torch: "2.14.1", Build: "cpu"}}}
		if got := Why(machine.Machine{}, pep508.Requirement{Name: "deepspeed", Text: "deepspeed"}, c, false, nil); strings.Contains(got, "`envfix plan deepspeed`") != says {
			t.Errorf("%s: %s", status, got)
		}
	}
}
