package chart

import (
	"strings"
	"testing"
	"unicode/utf8"

	"envfix/internal/describe"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"golang.org/x/net/html"
)

var views = []View{
	{OS: "linux", Arch: "x86_64"},
	{OS: "linux", Arch: "aarch64"},
	{OS: "windows", Arch: "x86_64", Driver: version.MustDotted("528.33")},
	{OS: "linux", Arch: "x86_64", WSL: true},
	{OS: "macos", Arch: "arm64"},
}

func data(t *testing.T) *matrix.Matrix {
	t.Helper()
	m := matrix.Embedded()
	return m
}

// What a cell says is what the resolver answers to that GPU and that release alone.
func TestCells(t *testing.T) {
	m := data(t)
	asked := map[State]int{}
	for _, v := range views {
		drawn := Make(m, v)
		d := &drawing{m: m, v: v}
		for i, r := range drawn.Rows {
			for j, c := range r.Cells {
				if asked[c.State]++; asked[c.State] > 60 && (i+j)%7 > 0 {
					continue // a part of the many
				}
				h := d.host(r.gpu)
				if !v.Driver.IsZero() && h.Driver != nil {
					h.Driver.Version = v.Driver
				}
				minor := drawn.Columns[j].Minor() + ".*"
				q := pep508.Requirement{Name: "torch", Text: "torch==" + minor}
				q.Spec, _ = version.ParseSpecifier("==" + minor)
				res, err := resolver.Resolve(m, h, resolver.Request{Described: true, Requirements: []pep508.Requirement{q}})
				if err != nil {
					t.Fatal(err)
				}
				runs := res.Decision == resolver.Install
				if runs != (c.State == Native || c.State == PTX) {
					t.Errorf("%s %s, %s %s, torch %s: the map says %s (%s), the resolver %s %+v %v", v.OS, v.Arch, r.Code, r.Name, minor,
						c.State, c.Text, res.Decision, res.Choice, res.Reasons)
				}
				if runs && (res.Choice.Build != c.Build || res.Choice.Torch != c.Torch) {
					t.Errorf("%s %s, %s: the map says %s %s, the resolver %s %s", v.OS, v.Arch, r.Code, c.Torch, c.Build, res.Choice.Torch, res.Choice.Build)
				}
				if c.Text == "" || c.State != None && c.Source == "" {
					t.Errorf("%s %s torch %s: no reason or no source: %+v", v.OS, r.Code, c.Torch, c)
				}
			}
		}
	}
	for _, s := range []State{Native, Driver, None} { // PTX alone serves no GPU of these views
		if asked[s] == 0 {
			t.Errorf("no cell was of state %s", s)
		}
	}
}

// The names that people know a generation by are of that generation.
func TestModels(t *testing.T) {
	for sm, names := range models {
		for name := range strings.SplitSeq(names, ", ") {
			if g, err := describe.GPU(name); err != nil || g.SM.String() != sm {
				t.Errorf("%s is %s (%v), not %s", name, g.SM, err, sm)
			}
		}
	}
}

func TestText(t *testing.T) {
	m := data(t)
	for _, v := range views {
		v.GPUs = []machine.GPU{{Vendor: machine.NVIDIA, SM: machine.MustSM("8.9")}}
		v.Torch = m.Releases[0].Torch.String()
		drawn := Make(m, v)
		text := drawn.Text(func(s string) string { return s })
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 79 {
				t.Errorf("wider than a terminal: %q", line)
			}
		}
		if v.OS == "linux" && !strings.Contains(text, "\n> 8.9") {
			t.Errorf("the row of the chosen GPU does not stand out:\n%s", text)
		}
		if v.OS == "linux" && len(drawn.Details()) != len(drawn.Columns) {
			t.Errorf("%d details of %d releases", len(drawn.Details()), len(drawn.Columns))
		}
	}
}

// The page is well-formed, every cell can be reached by keys and says what the map
// knows; a name that holds marks of HTML stays text.
func TestHTML(t *testing.T) {
	m := data(t)
	drawn := Make(m, views[0])
	drawn.Rows[0].Models = `<img src=x onerror="alert(1)">`
	page := drawn.Page("a <title>", "foot")
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	cells, stops := 0, 0
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && n.Data == "img" {
			t.Error("a name became an element")
		}
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		if attr["role"] == "gridcell" {
			cells++
			if attr["tabindex"] == "0" {
				stops++
			}
			if attr["data-text"] == "" || !strings.Contains(attr["aria-label"], attr["data-text"]) {
				t.Errorf("a cell without its reason: %v", attr)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	if cells != len(drawn.Rows)*len(drawn.Columns) || stops != 1 {
		t.Errorf("%d cells of %d rows, %d reached by Tab", cells, len(drawn.Rows), stops)
	}
	if strings.Contains(page, "http://") || strings.Contains(page, "src=\"") {
		t.Error("the page loads something")
	}
}
