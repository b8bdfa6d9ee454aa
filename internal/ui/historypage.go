package ui

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed history.html
var historyHTML string

// A Past is what was done to an environment, for its page.
type Past struct {
	Env, Logs, Back string     // Back is an environment to go back to; "" none
	Day             string     // on which the page was made
	Rows            []PastRow  // the oldest first
	Envs            []PastEnvs // that are here, the oldest first
}

// A PastRow is one thing that was done.
type PastRow struct {
	When, Took        string
	What, State, Note string // apply, rollback, collect; done, failed, waiting, abandoned, cut off
	Gen               string // the environment that it made, went to or removed; "" in place
	Changes           []string
}

// PastEnvs is an environment that is here.
type PastEnvs struct {
	Gen, Holds, When, Proven string
	Current, Before          bool // Before: it was here before envfix
}

// A pastLine is a part of the picture, in pixels or percent of the row's height.
type pastLine struct{ Class, X1, Y1, X2, Y2 string }

type drawnRow struct {
	PastRow
	Class string
	X     int
	Lines []pastLine
}

// Distances of the picture, in pixels.
const (
	laneWidth = 18
	dotHeight = 18
)

// HistoryPage is one page of HTML with the picture of an environment's past. It loads
// nothing from anywhere and holds no script; text from outside is escaped and cleaned.
func HistoryPage(p Past) ([]byte, error) {
	d := newPicture(p)
	data := struct {
		Past
		Rows   []drawnRow
		Width  int
		Indent template.CSS
	}{p, d.rows, len(d.lanes) * laneWidth, template.CSS(fmt.Sprintf("%dpx", len(d.lanes)*laneWidth+14))}
	return reportPage(historyHTML, nil, data)
}

// A picture is drawn from the oldest row up: each environment has a lane while it is
// there.
type picture struct {
	lanes []string // by place: the environment, "" free
	use   string   // the one in use
	rows  []drawnRow
}

func newPicture(p Past) *picture {
	d := &picture{}
	for _, gen := range foundThere(p) {
		d.begin(gen)
		d.use = gen
	}
	for _, r := range p.Rows {
		d.add(r)
	}
	slices.Reverse(d.rows)
	return d
}

// foundThere are the environments that were there before what is drawn: adopted ones,
// and those that were removed though no row made them.
func foundThere(p Past) (out []string) {
	made := map[string]bool{}
	for _, r := range p.Rows {
		made[r.Gen] = made[r.Gen] || r.What != "collect"
		if r.What == "collect" && !made[r.Gen] {
			out = append(out, r.Gen)
		}
	}
	for _, e := range p.Envs {
		if e.Before {
			out = append(out, e.Gen)
		}
	}
	return out
}

// begin gives an environment a lane and returns its place.
func (d *picture) begin(gen string) int {
	if i := slices.Index(d.lanes, gen); i >= 0 {
		return i
	}
	if i := slices.Index(d.lanes, ""); i >= 0 {
		d.lanes[i] = gen
		return i
	}
	d.lanes = append(d.lanes, gen)
	return len(d.lanes) - 1
}

// inPlace is the lane of what was changed without an environment of its own.
const inPlace = "in place"

func (d *picture) add(r PastRow) {
	row := drawnRow{PastRow: r, Class: strings.Fields(r.State + " ")[0]}
	before, was := d.use, slices.Clone(d.lanes)
	lane := slices.Index(d.lanes, d.use)
	switch gen := r.Gen; {
	case r.State != "done":
	case r.What == "collect":
		row.Class = "collect"
		lane = slices.Index(d.lanes, gen)
	default:
		gen = cmp.Or(gen, inPlace)
		lane, d.use = d.begin(gen), gen
	}
	row.X = at(max(lane, 0))
	row.Lines = d.lines(was, before, row)
	if row.Class == "collect" && lane >= 0 {
		d.lanes[lane] = ""
	}
	d.rows = append(d.rows, row)
}

// lines draws a row: what was there goes on through it, what it makes begins at its
// dot, and the line of use goes from where it came to where it is.
func (d *picture) lines(was []string, before string, row drawnRow) []pastLine {
	var out []pastLine
	for i, gen := range d.lanes {
		switch {
		case gen == "":
		case row.Class == "collect" && gen == row.Gen:
			out = append(out, upright("keep", i, fmt.Sprint(dotHeight), "100%"))
		case i < len(was) && was[i] == gen:
			out = append(out, upright("keep", i, "0", "100%"))
		default:
			out = append(out, upright("keep", i, "0", fmt.Sprint(dotHeight)))
		}
	}
	from, to := slices.Index(d.lanes, before), slices.Index(d.lanes, d.use)
	dot := fmt.Sprint(dotHeight)
	if before != "" && from >= 0 {
		turn := fmt.Sprint(dotHeight + laneWidth)
		if from == to {
			turn = dot
		}
		out = append(out, upright("use", from, turn, "100%"))
		if from != to {
			out = append(out, pastLine{"use", fmt.Sprint(at(from)), turn, fmt.Sprint(at(to)), dot})
		}
	}
	if to >= 0 && d.use != "" {
		out = append(out, upright("use", to, "0", dot))
	}
	return out
}

func at(lane int) int { return 9 + lane*laneWidth }

func upright(class string, lane int, from, to string) pastLine {
	x := fmt.Sprint(at(lane))
	return pastLine{class, x, from, x, to}
}
