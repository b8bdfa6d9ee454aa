package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// TestE2EResolvePackages has the real uv resolve what is chosen for every package of
// data/dists.yaml on three machines: it resolves, or the plan said why not; and the torch,
// companions, transformers and frameworks that uv then brings are those of the choice.
// ENVFIX_RESOLVE_PACKAGES names the packages, "all" is every one. With
// ENVFIX_RESOLVE_OFFLINE set to a cache of uv's nothing is asked of the index; what the
// cache does not hold is counted apart.
func TestE2EResolvePackages(t *testing.T) {
	names := strings.Fields(os.Getenv("ENVFIX_RESOLVE_PACKAGES"))
	if len(names) == 0 {
		t.Skip("ENVFIX_RESOLVE_PACKAGES=all (make e2e-resolve-packages): it asks the default index")
	}
	m, err := matrix.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if names[0] == "all" {
		names = nil
		for _, d := range m.Dists {
			names = append(names, d.Package)
		}
	}
	r := packageResolves{t: t, uv: testindex.UV(t), m: m, offline: os.Getenv("ENVFIX_RESOLVE_OFFLINE"), counts: map[string]int{}}
	queue := make(chan drawnMachine, 3*len(names))
	for _, name := range names {
		for _, d := range threeMachines(t) {
			d.ask(t, name)
			d.request.Requirements = slices.DeleteFunc(d.request.Requirements, func(q pep508.Requirement) bool { return q.Name == "torch" })
			d.text = name + " on " + d.text
			queue <- d
		}
	}
	close(queue)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			for d := range queue {
				r.one(d)
			}
		})
	}
	wait.Wait()
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		t.Logf("%4d %s", r.counts[what], what)
	}
}

// threeMachines are Linux and Windows with a driver of CUDA 12, and Linux with one of
// CUDA 13 that takes its packages from the default index alone.
func threeMachines(t *testing.T) []drawnMachine {
	var out []drawnMachine
	for _, k := range []struct{ os, driver, only, python string }{
		{"linux", "550.163.01", "", "3.12"}, {"linux", "580.95.05", "default", "3.12"}, {"windows", "552.44", "", "3.11"}} {
		d := drawnMachine{text: k.os + " " + k.driver}
		match := lock.Match{OS: k.os, Arch: "x86_64"}
		h := &d.machine
		*h = machine.Machine{Format: machine.Format, Driver: &machine.Driver{Version: version.MustDotted(k.driver)},
			GPUs: []machine.GPU{{Vendor: machine.NVIDIA, Name: "NVIDIA L4", SM: machine.MustSM("8.9"), Visible: true}}}
		h.Platform.OS, h.Platform.Arch = k.os, "x86_64"
		if k.os == "linux" {
			h.Platform.Libc = &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.39")}
			match.Libc = "glibc>=2.39"
		}
		d.platform = platformOf(t, match)
		d.request = resolver.Request{OnlyIndex: k.only, Python: k.python, Today: "2026-11-23"}
		out = append(out, d)
	}
	return out
}

type packageResolves struct {
	t       *testing.T
	uv      string
	m       *matrix.Matrix
	offline string
	mu      sync.Mutex
	counts  map[string]int
}

func (r *packageResolves) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what]++
}

// notCached is uv's word for what its cache does not hold.
var notCached = regexp.MustCompile(`network was disabled|network connectivity is disabled|not found in the cache`)

func (r *packageResolves) one(d drawnMachine) {
	res, err := resolver.Resolve(r.m, d.machine, d.request)
	if err != nil {
		r.t.Error(err)
		return
	}
	c := res.Choice
	if c == nil {
		c = res.Then
	}
	if c == nil {
		r.count("refused by the plan with its reason")
		r.t.Logf("%s: %s: %v", d.text, res.Decision, res.Reasons)
		return
	}
	out, err := r.resolve(d, c)
	warned := slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, "only a source distribution") })
	switch {
	case err != nil && warned:
		r.count("said by the plan: a source distribution")
	case err != nil && notCached.MatchString(out):
		r.count("not in the cache")
		r.t.Logf("%s: not in the cache: %q", d.text, linesOf(c))
	case err != nil:
		r.count("missed")
		r.t.Errorf("%s: torch %s %s: %q\n%s", d.text, c.Torch, c.Build, linesOf(c), out)
	default:
		if why := r.unlike(c, out); why != "" {
			r.count("resolved otherwise")
			r.t.Errorf("%s: torch %s %s: %s", d.text, c.Torch, c.Build, why)
			return
		}
		r.count("resolved alike")
	}
}

func (r *packageResolves) resolve(d drawnMachine, c *resolver.Choice) (string, error) {
	if r.offline == "" {
		return d.resolve(r.t, r.uv, c.Python, linesOf(c))
	}
	cmd := exec.CommandContext(r.t.Context(), r.uv, "pip", "compile", "-", "--no-header", "--no-annotate", "--quiet", "--only-binary", ":all:",
		"--python-version", c.Python, "--python-platform", d.platform, "--offline", "--cache-dir", r.offline)
	cmd.Stdin = strings.NewReader(strings.Join(linesOf(c), "\n") + "\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var pinned = regexp.MustCompile(`(?m)^([a-z0-9-]+)(?:\[[^\]]*\])?==(\S+)`)

// unlike says what uv brings that a choice does not know of, or has in another version.
func (r *packageResolves) unlike(c *resolver.Choice, out string) string {
	found := map[string]string{}
	for _, m := range pinned.FindAllStringSubmatch(out, -1) {
		found[m[1]] = m[2]
	}
	for _, name := range []string{"torch", "torchvision", "torchaudio"} {
		want, _ := version.SplitLocal(c.Packages[name])
		if got := found[name]; got != "" && got != want {
			return fmt.Sprintf("uv brings %s %s, the choice has %q", name, got, want)
		}
	}
	for _, name := range []string{"tensorflow", "jax"} {
		if found[name] != "" && !slices.ContainsFunc(slices.Collect(maps.Values(c.Ask)), func(a string) bool { return strings.HasPrefix(a, name) }) &&
			slices.ContainsFunc(r.m.Frameworks, func(f matrix.Framework) bool {
				return f.Package == name && strings.HasPrefix(c.Build, "cu") && f.OS != "windows"
			}) {
			if _, there := c.Packages[name]; !there {
				return fmt.Sprintf("uv brings %s %s, the choice has none", name, found[name])
			}
		}
	}
	torch, err := version.ParsePython(c.Torch)
	got, err2 := version.ParsePython(found["transformers"])
	if err != nil || err2 != nil {
		return ""
	}
	for _, n := range r.m.Needs {
		if n.Package == "transformers" && n.Of == "torch" && n.Versions.Admits(got) && !n.Range.Admits(torch) {
			return fmt.Sprintf("uv brings transformers %s, which needs torch%s", got, n.Range)
		}
	}
	return ""
}
