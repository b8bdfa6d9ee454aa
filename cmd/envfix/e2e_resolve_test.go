package main

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"envfix/internal/lock"
	"envfix/internal/testindex"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// usual are packages that people have beside torch.
var usual = strings.Fields(`numpy pandas scipy scikit-learn matplotlib pillow transformers datasets accelerate tokenizers
	safetensors huggingface-hub sentencepiece opencv-python-headless tqdm pyyaml requests pyarrow tensorboard jupyterlab`)

// TestE2EResolve has the real uv resolve what is chosen for drawn machines on the
// installer's default index, once as it was asked for and once with the usual packages
// beside it: every choice has wheels for its Python and system, and its packages agree.
// ENVFIX_RESOLVE says how many machines; without a network it says so and is skipped.
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
	t.Parallel() // it waits for the index
	uv := testindex.UV(t)
	if out, err := (drawnMachine{platform: "x86_64-unknown-linux-gnu"}).resolve(t, uv, "3.12", []string{"certifi"}); err != nil {
		t.Skipf("the default index cannot be reached:\n%s", out)
	}
	m := matrix.Embedded()
	rnd := rand.New(rand.NewSource(20261122))
	machines := make([]drawnMachine, n)
	for i := range machines {
		machines[i] = drawMachine(t, rnd)
	}
	r := resolves{t: t, uv: uv, m: m}
	queue := make(chan drawnMachine, n)
	for _, d := range machines {
		queue <- d
	}
	close(queue)
	var wait sync.WaitGroup
	for range 8 { // uv mostly waits for the index
		wait.Go(func() {
			for d := range queue {
				r.one(d)
				r.progress()
			}
		})
	}
	wait.Wait()
	t.Logf("%d machines: %s", n, &r.alone)
	t.Logf("the same with %d usual packages: %s", len(usual), &r.usual)
}

// notOut is uv's sentence on a release that a dependency asks for and that the index
// does not have (yet); the data knows nothing of such packages.
var notOut = regexp.MustCompile(`(?:Because|because) only ([a-z0-9-]+)[<=]+\S+ is available`)

// resolves counts what uv says of what was chosen.
type resolves struct {
	t            *testing.T
	uv           string
	m            *matrix.Matrix
	mu           sync.Mutex
	alone, usual tally
	done         int
}

type tally struct{ refused, resolved, said, missed int }

func (n *tally) String() string {
	return fmt.Sprintf("%d refused by the plan with its reason, %d resolved, %d that uv refuses for what was asked for by itself, %d missed",
		n.refused, n.resolved, n.said, n.missed)
}

// progress logs the figures so far, for a run that is ended early.
func (r *resolves) progress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done++; r.done%20 == 0 {
		r.t.Logf("after %d machines: %s; with the usual packages: %s", r.done, &r.alone, &r.usual)
	}
}

// one resolves for one machine, alone and with the usual packages.
func (r *resolves) one(d drawnMachine) {
	r.count(&r.alone, d)
	for _, name := range usual {
		d.ask(r.t, name)
	}
	r.count(&r.usual, d)
}

// count resolves once. What uv refuses is a miss, unless it refuses what the user asked
// for without any of the choice too, or misses a release of a package that the choice
// does not name: of such packages the data knows nothing, and --check-packages says
// uv's sentence.
func (r *resolves) count(n *tally, d drawnMachine) {
	res, err := resolver.Resolve(r.m, d.machine, d.request)
	if err != nil {
		r.t.Error(err)
		return
	}
	c := res.Choice
	if c == nil {
		c = res.Then // what is installed once the driver is in order
	}
	where := &n.resolved
	switch {
	case c == nil && len(res.Reasons) == 0:
		r.t.Errorf("%s: %s without a reason", d.text, res.Decision)
		where = &n.missed
	case c == nil:
		where = &n.refused
		r.t.Logf("%s: %s: %s", d.text, res.Decision, res.Reasons[0].Text)
	default:
		out, err := d.resolve(r.t, r.uv, c.Python, linesOf(c))
		if err == nil {
			break
		}
		others, alone := r.others(d, c)
		if m := notOut.FindStringSubmatch(out); m != nil && c.Packages[m[1]] == "" {
			others, alone = out, err
		}
		if alone != nil {
			where = &n.said
			r.t.Logf("%s: torch %s %s: said by uv:\n%s", d.text, c.Torch, c.Build, others)
			break
		}
		where = &n.missed
		r.t.Errorf("%s: torch %s %s: %v: %q\n%s", d.text, c.Torch, c.Build, err, linesOf(c), out)
	}
	r.mu.Lock()
	*where++
	r.mu.Unlock()
}

// others resolves those packages of a request of which a choice names no version.
func (r *resolves) others(d drawnMachine, c *resolver.Choice) (string, error) {
	var lines []string
	for _, q := range d.request.Requirements {
		if v, chosen := c.Packages[q.Name]; !chosen || v == "" {
			lines = append(lines, q.Text)
		}
	}
	if len(lines) == 0 {
		return "", nil
	}
	return d.resolve(r.t, r.uv, c.Python, lines)
}

// linesOf are a choice's packages as requirements.
func linesOf(c *resolver.Choice) []string {
	lines := slices.Clone(c.Holds)
	for name, v := range c.Packages {
		public, _ := version.SplitLocal(v)
		switch {
		case c.URLs[name] != "":
			lines = append(lines, name+" @ "+c.URLs[name])
		case public != "":
			lines = append(lines, name+"=="+public)
		case c.Ask[name] != "":
			lines = append(lines, c.Ask[name])
		default:
			lines = append(lines, name)
		}
	}
	slices.Sort(lines)
	return lines
}

// resolve has uv resolve for a machine, without installing: from what it read of the
// index today, and where that does not do, from the index.
func (d drawnMachine) resolve(t *testing.T, uv, python string, lines []string) (string, error) {
	if out, err := d.compile(t, uv, python, lines, false); err == nil {
		return out, nil
	}
	return d.compile(t, uv, python, lines, true)
}

func (d drawnMachine) compile(t *testing.T, uv, python string, lines []string, online bool) (string, error) {
	c := exec.CommandContext(t.Context(), uv, "pip", "compile", "-", "--no-header", "--quiet", "--only-binary", ":all:",
		"--python-version", python, "--python-platform", d.platform)
	c.Env = append(os.Environ(), "MACOSX_DEPLOYMENT_TARGET="+d.macOS, "UV_CACHE_DIR="+cacheOfToday(t))
	if !online {
		c.Args = append(c.Args, "--offline")
	}
	c.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := c.CombinedOutput()
	return string(out), err
}

// cacheOfToday is uv's cache for these resolves: what was read of the index today is not
// asked for again, and nothing is older.
func cacheOfToday(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "envfix-test-tools", "uv-cache-"+time.Now().UTC().Format(time.DateOnly))
}

// platformOf is the machine's platform as uv names it.
func platformOf(t *testing.T, match lock.Match) string {
	t.Helper()
	p, err := lock.UVPlatform(match)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
