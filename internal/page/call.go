package page

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"envfix/internal/chart"
	"envfix/internal/doctor/know"
	"envfix/internal/machine"
	"envfix/matrix"
)

// A Desk is what the page calls: questions as JSON, answers as JSON. It is made once,
// when the page has loaded.
type Desk struct {
	matrix  *matrix.Matrix
	devices *matrix.DeviceTable
	know    *know.Knowledge // nil: nothing was pasted yet
	drawn   *chart.Map      // the last map; nil: none
	drawnOf chart.View      // what it shows, without what is chosen
}

// NewDesk reads the data that the program was built with.
func NewDesk() *Desk { return &Desk{matrix: matrix.Embedded(), devices: matrix.Devices()} }

// Call answers one call. An error is a fault of the page, never of its user.
func (d *Desk) Call(name, input string) (string, error) {
	var out any
	switch name {
	case "about":
		out = d.about()
	case "ask":
		w, err := decode[Words](input)
		if err != nil {
			return "", err
		}
		out = Ask(d.matrix, w)
	case "map":
		w, err := decode[Words](input)
		if err != nil {
			return "", err
		}
		out = d.mapOf(w)
	case "search":
		out = d.search(input)
	case "paste":
		if d.know == nil {
			return "", fmt.Errorf("paste: what the doctor knows was not loaded")
		}
		out = Paste(d.matrix, d.know, input)
	default:
		return "", fmt.Errorf("no call is named %q", name)
	}
	b, err := json.Marshal(out)
	return string(b), err
}

// Drawn is the map for a question.
type Drawn struct {
	HTML string `json:"html"` // "" the words were not understood
	Same bool   `json:"same"` // it differs from the last one only in what stands out
}

// mapOf draws the map for the system and driver of a question, and lets its GPUs and
// its torch stand out.
func (d *Desk) mapOf(w Words) Drawn {
	named := w.Driver
	q, err := read(d.matrix, w)
	if err != nil {
		return Drawn{}
	}
	p := q.machine.Platform
	v := chart.View{OS: p.OS, Arch: p.Arch, WSL: p.Environment == machine.WSL2, Today: w.Today}
	if q.machine.Driver != nil && named != "" {
		v.Driver = q.machine.Driver.Version
	}
	torch := ""
	if res, err := q.of(d.matrix).Choose(); err == nil && settled(res) != nil {
		torch = settled(res).Torch
	}
	known := d.drawn != nil && sameView(d.drawnOf, v)
	if !known {
		d.drawn, d.drawnOf = chart.Make(d.matrix, v), v
	}
	d.drawn.Choose(q.machine.GPUs, torch)
	return Drawn{d.drawn.HTML(), known}
}

func sameView(a, b chart.View) bool {
	return a.OS == b.OS && a.Arch == b.Arch && a.WSL == b.WSL && a.Driver == b.Driver && a.Today == b.Today
}

// Know takes what the doctor knows: the compiled data/doctor.bin.
func (d *Desk) Know(blob string) error {
	k, err := know.Decode(blob)
	if err != nil {
		return fmt.Errorf("doctor.bin: %w", err)
	}
	d.know = k
	return nil
}

// About says which data answers.
type About struct {
	Matrix   string   `json:"matrix"`
	Date     string   `json:"date"`
	Newest   string   `json:"newest"`   // torch
	Pythons  []string `json:"pythons"`  // newest first
	Branches []string `json:"branches"` // of drivers, newest first, with their newest release
}

func (d *Desk) about() About {
	a := About{Matrix: d.matrix.Version, Date: d.matrix.Date, Pythons: d.pythons()}
	if len(d.matrix.Releases) > 0 {
		a.Newest = d.matrix.Releases[0].Torch.String()
	}
	for _, b := range d.matrix.Branches {
		if !b.Latest.IsZero() {
			a.Branches = append(a.Branches, b.Latest.String())
		}
	}
	return a
}

// pythons are those of the newest torch and of the releases of two years before it.
func (d *Desk) pythons() []string {
	low, high := 0, 0
	for i, r := range d.matrix.Releases {
		for _, b := range r.Builds {
			from, to := minor(b.PythonMin.String()), minor(b.PythonMax.String())
			if i == 0 {
				high = max(high, to)
			}
			if from > 0 && (low == 0 || from < low) {
				low = from
			}
		}
	}
	var out []string
	for n := high; n >= low && low > 0; n-- {
		out = append(out, fmt.Sprintf("3.%d", n))
	}
	return out
}

func minor(python string) int {
	_, rest, _ := strings.Cut(python, ".")
	n, _ := strconv.Atoi(rest) // 0 where there is none
	return n
}

// A Model is one GPU that what was typed may mean.
type Model struct {
	Name string `json:"name"` // a value of --gpu
	What string `json:"what"` // its capability, target or maker
}

func (d *Desk) search(typed string) []Model {
	out := []Model{}
	for _, g := range d.devices.Search(typed, 8) {
		m := Model{Name: strings.TrimPrefix(g.Name, "NVIDIA "), What: g.GFX}
		switch g.Vendor {
		case machine.NVIDIA:
			m.What = strings.TrimSpace(g.Arch + " " + g.SM.String())
		case machine.AMD:
			m.What = strings.TrimSpace("AMD " + g.GFX)
		case machine.Intel:
			m.What = strings.TrimSpace("Intel " + g.Chip)
		}
		out = append(out, m)
	}
	return out
}
