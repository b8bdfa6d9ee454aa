package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"envfix/internal/index"
	"envfix/internal/machine"
	"envfix/internal/maintain"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"
)

// A drawnWheel is a release of a package that the index has today, and a machine.
type drawnWheel struct {
	drawnMachine
	page    *index.Project
	release version.Python
	code    *index.Code // of its wheel for that system, by its bytes; nil there is none
}

// TestE2EWheels draws packages that the data knows, releases that the default index has
// today, and machines; reads the wheels; and holds what is said against their bytes. What
// is chosen must not contradict them; what is refused is logged with what confirms it.
// ENVFIX_WHEELS says how many are drawn, ENVFIX_DRAW repeats a draw.
func TestE2EWheels(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("ENVFIX_WHEELS"))
	if err != nil {
		t.Skip("ENVFIX_WHEELS=200 (make e2e-wheels): it reads some gigabytes of the default index")
	}
	ctx := t.Context()
	x, err := maintain.Open(ctx, "")
	if err != nil {
		t.Skipf("no default index: %v", err)
	}
	if _, err := x.Project(ctx, "certifi"); err != nil {
		t.Skipf("the default index cannot be reached: %v", err)
	}
	seed, _ := strconv.ParseInt(os.Getenv("ENVFIX_DRAW"), 10, 64)
	seed = cmp.Or(seed, time.Now().UnixNano())
	t.Logf("ENVFIX_DRAW=%d repeats this draw", seed)
	m := matrix.Embedded()
	drawn := drawWheels(t, x, m, rand.New(rand.NewSource(seed)), n)
	var names []string
	for name := range drawn {
		names = append(names, name)
	}
	slices.Sort(names)
	queue := make(chan string, len(names))
	for _, name := range names {
		queue <- name
	}
	close(queue)
	var wait sync.WaitGroup
	var mu sync.Mutex
	count := map[string]int{}
	for range 4 { // they mostly wait for the index
		wait.Go(func() {
			for name := range queue {
				verdicts, err := judgeWheels(ctx, x, m, name, drawn[name])
				mu.Lock()
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				for _, v := range verdicts {
					count[v.kind]++
					if t.Logf("%-11s %s", v.kind, v.text); v.kind == "contradicts" {
						t.Fail()
					}
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	read, _ := x.Cost()
	t.Logf("%d drawn, %d MB read: %v", n, read>>20, count)
}

// drawWheels draws by package, then by release, then a machine.
func drawWheels(t *testing.T, x *maintain.Index, m *matrix.Matrix, rnd *rand.Rand, n int) map[string][]*drawnWheel {
	known := map[string]bool{}
	for i := range m.Extensions {
		known[m.Extensions[i].Package] = true
	}
	for i := range m.Frameworks {
		known[m.Frameworks[i].Package] = true
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	pages, drawn := map[string]*index.Project{}, map[string][]*drawnWheel{}
	for done := 0; done < n; {
		name := names[rnd.Intn(len(names))]
		page, seen := pages[name]
		if !seen {
			var err error
			if page, err = x.Project(t.Context(), name); err != nil && !errors.Is(err, index.ErrNotFound) {
				t.Fatal(err)
			}
			pages[name] = page
		}
		var releases []version.Python
		for _, row := range rowsOf(page) {
			for v := range strings.FieldsSeq(row.Versions) {
				releases = append(releases, version.MustPython(v))
			}
		}
		if len(releases) == 0 {
			continue // the index has none of it: elsewhere, or nowhere
		}
		slices.SortFunc(releases, version.Python.Compare)
		releases = slices.CompactFunc(releases, func(a, b version.Python) bool { return a.Compare(b) == 0 })
		d := &drawnWheel{drawnMachine: drawMachine(t, rnd), page: page, release: releases[rnd.Intn(len(releases))]}
		wish, err := pep508.Parse(name+"=="+d.release.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		d.request.Requirements = []pep508.Requirement{wish}
		d.text, _, _ = strings.Cut(d.text, ", \"")
		d.text = wish.Text + " on " + d.text
		drawn[name] = append(drawn[name], d)
		done++
	}
	return drawn
}

// rowsOf are the wheels of a page since the oldest torch of the data.
func rowsOf(page *index.Project) []matrix.Files {
	if page == nil {
		return nil
	}
	p := *page
	p.Files = slices.DeleteFunc(slices.Clone(p.Files), func(f index.File) bool {
		_, wheel := index.ParseName(f.Name)
		return f.Yanked || !wheel || f.Uploaded < "2022-06-28"
	})
	return p.Rows()
}

// A wheelVerdict is what bytes say of an answer: agrees, contradicts, confirms a refusal,
// or refused for what they do not tell.
type wheelVerdict struct{ kind, text string }

func judgeWheels(ctx context.Context, x *maintain.Index, m *matrix.Matrix, name string, drawn []*drawnWheel) ([]wheelVerdict, error) {
	codes, err := x.Codes(ctx, name, "", func(v version.Python, os, arch string) bool {
		return !slices.ContainsFunc(drawn, func(d *drawnWheel) bool {
			p := d.machine.Platform
			return d.release.Compare(v) == 0 && (os == "" || os == p.OS) && (arch == "" || arch == p.Arch)
		})
	}, func(int, int, string) {})
	if err != nil {
		return nil, err
	}
	var out []wheelVerdict
	for _, d := range drawn {
		p := d.machine.Platform
		for _, k := range codes {
			if k.Version == d.release.String() && (k.OS == "" || k.OS == p.OS) && (k.Arch == "" || k.Arch == p.Arch) {
				d.code = k
			}
		}
		res, err := resolver.Resolve(m, d.machine, d.request)
		if err != nil {
			return nil, err
		}
		says := d.against(m, res.Choice)
		switch c := res.Choice; {
		case c != nil && says == "":
			out = append(out, wheelVerdict{"agrees", d.text + ": " + strings.Join(linesOf(c), " ")})
		case c != nil:
			out = append(out, wheelVerdict{"contradicts", fmt.Sprintf("%s: %s, torch %s %s, Python %s: %s", d.text, strings.Join(linesOf(c), " "), c.Torch, c.Build, c.Python, says)})
		case says != "":
			out = append(out, wheelVerdict{"confirms", fmt.Sprintf("%s: %s: %s; %s", d.text, res.Decision, firstReason(res), says)})
		default:
			out = append(out, wheelVerdict{"refused", fmt.Sprintf("%s: %s: %s", d.text, res.Decision, firstReason(res))})
		}
	}
	return out, nil
}

func firstReason(res *resolver.Resolution) string {
	if len(res.Reasons) == 0 {
		return "no reason"
	}
	return res.Reasons[0].Text
}

// against is what the bytes say against a choice, or where there is none against any on that
// machine; "" nothing.
func (d *drawnWheel) against(m *matrix.Matrix, c *resolver.Choice) string {
	python := d.request.Python
	if c != nil && c.Python != "" {
		python = c.Python
	}
	if !slices.ContainsFunc(d.page.Files, func(f index.File) bool {
		n, wheel := index.ParseName(f.Name)
		return wheel && n.Version == d.release.String() && f.Loads(python, d.machine.Platform)
	}) {
		return "the index has no wheel of it for Python " + python + " there"
	}
	k := d.code
	if k == nil {
		return ""
	}
	var gpu string
	if len(d.machine.GPUs) > 0 {
		gpu = d.machine.GPUs[0].SM.String()
	}
	torch, _ := version.ParseSpecifier(k.Torch)
	if c != nil {
		chosen, _ := version.ParsePython(c.Torch)
		major, _, _ := strings.Cut(c.CUDA, ".")
		switch {
		case c.Torch != "" && !torch.IsZero() && !torch.Admits(chosen):
			return "it wants torch" + k.Torch
		case c.CUDA != "" && k.CUDA != "" && k.CUDA != major:
			return "it is of CUDA " + k.CUDA + ", and " + c.CUDA + " was chosen"
		case k.GPU && gpu == "" && c.Torch != "" && c.CUDA == "":
			return "it loads beside a driver alone"
		case c.CUDA == "" && c.Torch != "" || gpu == "":
			return ""
		}
	} else if !torch.IsZero() && !slices.ContainsFunc(m.Releases, func(r *matrix.Release) bool { return torch.Admits(r.Torch) }) {
		return "it wants torch" + k.Torch
	}
	if code := k.Native + k.PTX; gpu != "" && code != "" && !hasCodeFor(k.Native, k.PTX, gpu) {
		return "its code is " + k.Native + ", PTX " + k.PTX
	}
	if floor, ok := m.Floor("cu" + k.CUDA + "0"); ok && d.machine.Driver != nil {
		least := floor.Linux
		if d.machine.Platform.OS == "windows" {
			least = floor.Windows
		}
		if d.machine.Driver.Version.Compare(least) < 0 {
			return "CUDA " + k.CUDA + " needs driver " + least.String()
		}
	}
	return ""
}

// hasCodeFor reports whether one of some cubins or some PTX runs on a compute capability, by
// NVIDIA's rules.
func hasCodeFor(native, ptx, gpu string) bool {
	sm := machine.MustSM(gpu)
	for i, list := range []string{native, ptx} {
		for word := range strings.FieldsSeq(list) {
			of := machine.MustSM(strings.TrimRight(word, "af"))
			switch {
			case strings.HasSuffix(word, "a"):
				if of.Compare(sm) == 0 {
					return true
				}
			case sm.Less(of):
			case i == 1 && !strings.HasSuffix(word, "f"), of.Major == sm.Major:
				return true
			}
		}
	}
	return false
}
