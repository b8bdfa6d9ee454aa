package main

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/resolver"
)

// A drawnMachine is one of the kinds that people have, with a request.
type drawnMachine struct {
	machine  machine.Machine
	request  resolver.Request
	platform string // as uv names it
	macOS    string // its release; "" another system
	text     string
}

// ask adds a requirement to the request.
func (d *drawnMachine) ask(t *testing.T, text string) {
	q, err := pep508.Parse(text, "")
	if err != nil {
		t.Error(err)
		return
	}
	for _, r := range d.request.Requirements {
		if r.Name == q.Name {
			return
		}
	}
	if len(d.request.Requirements) == 0 && q.Name != "torch" {
		d.ask(t, "torch")
	}
	d.request.Requirements = append(d.request.Requirements, q)
}

// wishes are requests that people make.
var wishes = []string{"", "", "torch", "torch torchvision", "torch torchvision torchaudio", "torch transformers", "torch xformers",
	"torch vllm", "torch torchcodec", "torch torchao", "torch bitsandbytes", "torch diffusers accelerate", "torch lightning",
	"torch==2.4.* torchvision", "torch==2.1.* torchvision pandas", "torch==2.6.* torchcodec", "torch>=2.8 transformers>=4.50",
	"jax", "tensorflow", "onnxruntime-gpu", "cupy-cuda12x", "torch jax", "torch tensorflow"}

// drawMachine draws Linux with NVIDIA most often, as people have it.
func drawMachine(t *testing.T, rnd *rand.Rand) drawnMachine {
	pick := func(list ...string) string { return list[rnd.Intn(len(list))] }
	d := drawnMachine{}
	h := &d.machine
	*h = machine.Machine{Format: machine.Format}
	python := pick("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
	match := lock.Match{OS: "linux", Arch: "x86_64"}
	gpu := ""
	switch kind := rnd.Intn(12); {
	case kind < 7:
		gpu = drawNVIDIA(h, pick)
		match.Arch = pick("x86_64", "x86_64", "x86_64", "aarch64")
		drawGlibc(h, &match, pick)
	case kind == 7:
		drawGlibc(h, &match, pick)
	case kind < 10:
		gpu, match.OS = drawNVIDIA(h, pick), "windows"
	case kind == 10:
		match.OS, match.Arch = "macos", "arm64"
		d.macOS = pick("13.7", "14.5", "15.6", "26.1")
	default:
		match.OS, match.Arch = "macos", "x86_64"
		d.macOS = pick("12.7", "14.5")
	}
	h.Platform.OS, h.Platform.Arch, h.Platform.DistroVersion = match.OS, match.Arch, d.macOS
	d.platform = platformOf(t, match)
	d.request = resolver.Request{OnlyIndex: "default", Python: python, Today: "2026-11-22"}
	wish := wishes[rnd.Intn(len(wishes))]
	for _, text := range strings.Fields(wish) {
		q, err := pep508.Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		d.request.Requirements = append(d.request.Requirements, q)
	}
	d.text = fmt.Sprintf("%s %s, Python %s, %s, %q", d.platform, d.macOS, python, gpu, wish)
	return d
}

func drawNVIDIA(h *machine.Machine, pick func(...string) string) string {
	sm := pick("6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0")
	driver := pick("470.256.02", "525.147.05", "535.183.01", "550.163.01", "570.211.01", "580.95.05", "595.71.05")
	h.Driver = &machine.Driver{Version: version.MustDotted(driver)}
	h.GPUs = []machine.GPU{{Vendor: machine.NVIDIA, Name: "GPU " + sm, SM: machine.MustSM(sm), Visible: true}}
	return "GPU " + sm + ", driver " + driver
}

func drawGlibc(h *machine.Machine, match *lock.Match, pick func(...string) string) {
	glibc := pick("2.17", "2.28", "2.31", "2.34", "2.39")
	h.Platform.Libc = &machine.Libc{Kind: "glibc", Version: version.MustDotted(glibc)}
	match.Libc = "glibc>=" + glibc
}
