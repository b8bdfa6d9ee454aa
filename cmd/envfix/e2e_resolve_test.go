package main

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// TestE2EResolve has the real uv resolve what is chosen for drawn machines on the
// installer's default index: every choice has wheels for its Python and system, and
// its packages agree. ENVFIX_RESOLVE says how many.
func TestE2EResolve(t *testing.T) {
	many := os.Getenv("ENVFIX_RESOLVE")
	if many == "" && os.Getenv("ENVFIX_E2E") != "" {
		many = "10"
	}
	if many == "" {
		t.Skip("ENVFIX_RESOLVE=300 (make e2e-resolve): it asks the default index")
	}
	n, err := strconv.Atoi(many)
	if err != nil {
		t.Fatal(err)
	}
	m, err := matrix.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(20261122))
	chosen, resolved, said := 0, 0, 0
	for range n {
		d := drawMachine(t, rnd)
		res, err := resolver.Resolve(m, d.machine, d.request)
		if err != nil {
			t.Fatal(err)
		}
		if res.Choice == nil {
			continue // the answer says why
		}
		chosen++
		out, err := compileWithUV(t, d, res.Choice)
		switch {
		case err == nil:
			resolved++
		case strings.Contains(out, notOut): // --check-packages says so; the data knows no such packages
			said++
			t.Logf("%s: torch %s %s: said by uv:\n%s", d.text, res.Choice.Torch, res.Choice.Build, out)
		default:
			t.Errorf("%s: torch %s %s: %v\n%s", d.text, res.Choice.Torch, res.Choice.Build, err, out)
		}
	}
	t.Logf("%d machines, %d choices, %d resolved, %d that --check-packages refuses", n, chosen, resolved, said)
}

// notOut begins uv's sentence on a release that is asked for and not published.
const notOut = "Because only "

// A drawn machine is one of the kinds that people have, with a request.
type drawnMachine struct {
	machine  machine.Machine
	request  resolver.Request
	platform string // as uv names it
	text     string
}

func drawMachine(t *testing.T, rnd *rand.Rand) drawnMachine {
	pick := func(list ...string) string { return list[rnd.Intn(len(list))] }
	arch, glibc := pick("x86_64", "x86_64", "x86_64", "aarch64"), pick("2.17", "2.28", "2.31", "2.34", "2.39")
	python := pick("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
	sm, driver := pick("6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"), pick("470.256.02", "525.147.05", "535.183.01", "550.163.01", "570.211.01", "580.95.05", "595.71.05")
	d := drawnMachine{platform: arch + "-manylinux_" + strings.ReplaceAll(glibc, ".", "_")}
	d.machine = machine.Machine{Format: 1, Platform: machine.Platform{OS: "linux", Arch: arch, Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted(glibc)}},
		Driver: &machine.Driver{Version: version.MustDotted(driver)},
		GPUs:   []machine.GPU{{Vendor: machine.NVIDIA, Name: "GPU " + sm, SM: machine.MustSM(sm), Visible: true}}}
	d.request = resolver.Request{OnlyIndex: "default", Python: python, Today: "2026-11-22"}
	asked := pick("", "", "torch torchvision", "torch transformers", "torch xformers", "torch vllm", "torch torchcodec", "torch==2.4.* torchvision", "torch==2.1.* torchvision pandas", "jax", "tensorflow")
	for _, text := range strings.Fields(asked) {
		q, err := pep508.Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		d.request.Requirements = append(d.request.Requirements, q)
	}
	d.text = fmt.Sprintf("%s, Python %s, GPU %s, driver %s, %q", d.platform, python, sm, driver, asked)
	return d
}

// compileWithUV resolves a choice for another system, without installing it.
func compileWithUV(t *testing.T, d drawnMachine, c *resolver.Choice) (string, error) {
	lines := slices.Clone(c.Holds)
	for name, v := range c.Packages {
		public, _ := version.SplitLocal(v)
		switch {
		case public != "":
			lines = append(lines, name+"=="+public)
		case c.Ask[name] != "":
			lines = append(lines, c.Ask[name])
		default:
			lines = append(lines, name)
		}
	}
	uv := exec.CommandContext(t.Context(), testindex.UV(t), "pip", "compile", "-", "--no-header", "--quiet", "--only-binary", ":all:",
		"--python-version", c.Python, "--python-platform", d.platform)
	uv.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := uv.CombinedOutput()
	return string(out), err
}
