package describe

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
)

// What people read off Windows, a Mac or a box of a GPU is understood, or the error
// says what it is instead.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		words  Machine
		os     string
		driver string
		says   string // in the error and its hint, or in what is assumed
		wrong  bool
		gpus   int // 0: not counted
		none   bool
	}{
		{words: Machine{OS: "win11"}, os: "windows"},
		{words: Machine{OS: "Windows 10"}, os: "windows"},
		{words: Machine{OS: "mac"}, os: "macos"},
		{words: Machine{OS: "macOS 14.5"}, os: "macos"},
		{words: Machine{OS: "Windows11"}, os: "windows"},
		{words: Machine{OS: "WSL"}, os: "linux"},
		{words: Machine{OS: "ubuntu22.04"}, os: "linux"},
		{words: Machine{OS: "Rocky 9"}, os: "linux"},
		{words: Machine{OS: "alpine"}, says: "systems are", wrong: true},
		{words: Machine{OS: "beos"}, says: "systems are", wrong: true},
		{words: Machine{OS: "windows", GPUs: []string{"RTX 3060"}, Driver: "31.0.15.4633"}, os: "windows", driver: "546.33"},
		{words: Machine{OS: "windows", GPUs: []string{"RTX 3060"}, Driver: "32.0.15.6094"}, os: "windows", driver: "560.94"},
		{words: Machine{Driver: "31.0.15.4633"}, os: "windows", driver: "546.33"},
		{words: Machine{GPUs: []string{"mps"}}, os: "macos", gpus: 1},
		{words: Machine{OS: "macos", GPUs: []string{"Apple Silicon"}}, os: "macos", gpus: 1},
		{words: Machine{OS: "macos", Arch: "x86_64"}, os: "macos", none: true},
		{words: Machine{Driver: "12.8"}, says: "CUDA version", wrong: true},
		{words: Machine{GPUs: []string{"RTX 3050 --os windows"}}, says: `leave "os windows" out`, wrong: true},
		{words: Machine{GPUs: []string{"RTX 3060 --driver 546.33"}}, says: "the quotes end too late: `--gpu \"RTX 3060\" --driver 546.33`", wrong: true},
		{words: Machine{GPUs: []string{"RTX 4090 banana"}}, says: `leave "banana" out`, wrong: true},
		{words: Machine{GPUs: []string{"rtx 4090ti"}}, os: "linux", says: `NVIDIA GeForce RTX 4090 for "rtx 4090ti"`},
		{words: Machine{GPUs: []string{"GH200 Grace Hopper"}}, os: "linux"},
		{words: Machine{GPUs: []string{"Tesla V100-SXM2-16GB"}}, os: "linux"},
		{words: Machine{GPUs: []string{"NVIDIA A100-SXM4-80GB MIG 1g.10gb"}}, os: "linux"},
		{words: Machine{GPUs: []string{"2x RTX 3090, T4", "A100 x8"}}, os: "linux", gpus: 11},
		{words: Machine{GPUs: []string{"T4,"}}, says: "GPU", wrong: true},
	} {
		h := machine.Machine{Format: machine.Format, Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}
		err := c.words.Override(&h)
		said := strings.Join(c.words.Usual(), "\n")
		if err != nil {
			said = fails(err)
		}
		if (err != nil) != c.wrong || !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%+v: said %q, error %v", c.words, said, err)
			continue
		}
		if !c.wrong && h.Platform.OS != c.os {
			t.Errorf("%+v: system %q, want %q", c.words, h.Platform.OS, c.os)
		}
		if (c.gpus > 0 || c.none) && len(h.GPUs) != c.gpus {
			t.Errorf("%+v: %d GPUs, want %d", c.words, len(h.GPUs), c.gpus)
		}
		if c.driver != "" && (h.Driver == nil || h.Driver.Version.String() != c.driver) {
			t.Errorf("%+v: driver %v, want %s", c.words, h.Driver, c.driver)
		}
	}
}

// A distribution that is another one than this machine's has none of its programs, and
// its own Python.
func TestDistribution(t *testing.T) {
	here := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64", Distro: "debian", DistroVersion: "12", Kernel: "6.1"}, Pythons: make([]machine.Python, 1)}
	for os, want := range map[string]string{"debian": "debian 12 6.1, 1", "Debian 12": "debian 12 6.1, 1", "ubuntu22.04": "ubuntu 22.04 , 0", "debian 13": "debian 13 , 0"} {
		h := here
		if err := (Machine{OS: os}).Override(&h); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s, %d", h.Platform.Distro, h.Platform.DistroVersion, h.Platform.Kernel, len(h.Pythons)); got != want {
			t.Errorf("--os %q: %s, want %s", os, got, want)
		}
	}
}

// fails is an error with its hints.
func fails(err error) string {
	var f *fail.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	return f.Text + "\n" + strings.Join(f.Hints, "\n")
}

// A machine of another architecture, or under WSL, has none of this one's programs; one
// that is like this one is this one, and facts of a file are corrected.
func TestAnotherMachine(t *testing.T) {
	for _, c := range []struct {
		words Machine
		tools int
	}{
		{Machine{Arch: "aarch64"}, 0}, {Machine{OS: "linux", Arch: "x86_64"}, 1}, {Machine{Arch: "aarch64", Whole: true}, 1},
		{Machine{OS: "wsl2", Arch: "x86_64"}, 0}, {Machine{OS: "wsl", Arch: "x86_64", Whole: true}, 1},
	} {
		h := machine.Machine{
			Format: machine.Format, Platform: machine.Platform{OS: "linux", Arch: "x86_64"}, Tools: []machine.Tool{{Name: "uv", Path: "/usr/bin/uv"}},
		}
		if err := c.words.Override(&h); err != nil || h.Platform.Arch != c.words.Arch || len(h.Tools) != c.tools {
			t.Errorf("%+v: %+v, %v", c.words, h, err)
		}
	}
}

// A chip of Apple's has one number of one digit; M10, M40 and M60 are boards of NVIDIA's.
func TestBareM(t *testing.T) {
	for name, want := range map[string]string{"M4": "Apple M4", "m3 max": "Apple M3 Max", "apple m10": "Apple M10", "M60": "Tesla M60", "M40": "Tesla M40"} {
		if g, err := GPU(name); err != nil || g.Name != want {
			t.Errorf("%s: %q %v, want %q", name, g.Name, err, want)
		}
	}
}
