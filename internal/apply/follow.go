package apply

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
)

// A follower reads a program's output for a person: as it is, where that was asked
// for, and else as how far the program is: what it does, how much of the planned bytes
// is there, how fast they come and how long that will go on. On a terminal that is one
// line, and a bar for each large file, in a log a line every ten seconds.
type follower struct {
	run     *run
	start   time.Time
	planned int64   // bytes that it will put on disks; 0: unknown
	places  []place // where, with what was free there before
	host    string  // that the files come from; "" the default index

	mu      sync.Mutex
	phase   string
	files   []file   // under way
	samples []sample // of the last while, the oldest first
	stop    func()
}

// A place is a file system, with what was free on it.
type place struct {
	dir  string
	free uint64
}

// A file is one that an installer says it downloads.
type file struct {
	name  string
	bytes float64
	drawn bool // the installer says how much of it came
	got   float64
}

// A sample is how many bytes were there at a time.
type sample struct {
	at   time.Time
	used int64
}

// The rate is that of the last ten seconds.
const (
	rateSpan = 10 * time.Second
	logEvery = 10 * time.Second
)

// follow begins to follow the program of step i. end must be called.
func (s *screen) follow(r *run, i int) *follower {
	step := r.plan.Steps[i]
	f := &follower{run: r, start: time.Now(), phase: "starting", host: hostOf(step), stop: func() {}}
	if step.Verify != nil {
		f.phase = "computing"
		if step.Verify.GPUs == 0 {
			f.phase = "importing " + say.Either(step.Verify.Torch != "", "torch", strings.Join(step.Verify.Imports, ", "))
		}
		if r.imports {
			f.phase = "importing what the project imports"
		}
	}
	if s.out == nil || r.Verbose {
		return f
	}
	for _, n := range r.needs([]plan.Step{step}) {
		f.planned += n.bytes
		if free, _, err := system.Free(n.dir); err == nil {
			f.places = append(f.places, place{n.dir, free})
		}
	}
	every, show := time.Second, s.live
	if s.columns == nil {
		every, show = cmp.Or(r.Every, logEvery), s.print
	}
	f.stop = system.Every(every, func(now time.Time) { show(f.line(now)) })
	return f
}

// hostOf is the host that a step's command names as its index, "" none.
func hostOf(s plan.Step) string {
	if s.Run != nil {
		for _, index := range indexesOf(s.Run.Argv) {
			if u, err := url.Parse(index); err == nil {
				return u.Hostname()
			}
		}
	}
	return ""
}

// Write takes whole lines.
func (f *follower) Write(b []byte) (int, error) {
	if f.run.Verbose {
		f.run.screen.print(strings.TrimSuffix(string(b), "\n"))
		return len(b), nil
	}
	f.mu.Lock()
	was := f.phase
	if p := phase(string(b)); p != "" {
		f.phase = p
	}
	f.hear(string(b))
	changed := f.phase != was
	f.mu.Unlock()
	if changed {
		f.run.screen.live(f.line(time.Now()))
	}
	return len(b), nil
}

var (
	fileLine = lazy.Regexp(`^\s*(Downloading|Downloaded) (\S+)(?: \(([0-9.]+) ?([kMG]?)i?B\))?`)
	barOf    = lazy.Regexp(`([A-Za-z0-9][\w.-]*) +-{10,} +([0-9.]+) ?([kKMG]?)i?B/([0-9.]+) ?([kKMG]?)i?B`)
)

// hear notes which files are under way; uv loads several at once, and draws a bar for each
// that is large.
func (f *follower) hear(line string) {
	if bars := barOf().FindAllStringSubmatch(line, -1); bars != nil {
		f.phase, f.files = "downloading", nil
		for _, m := range bars {
			f.files = append(f.files, file{name: m[1], drawn: true, got: amount(m[2], m[3]), bytes: amount(m[4], m[5])})
		}
	}
	m := fileLine().FindStringSubmatch(line)
	if m == nil {
		return
	}
	name := m[2]
	if strings.HasSuffix(name, ".whl") { // pip names the wheel, and loads one after the other
		name, _, _ = strings.Cut(name[strings.LastIndexByte(name, '/')+1:], "-")
		f.files = nil
	}
	f.files = slices.DeleteFunc(f.files, func(x file) bool { return x.name == name })
	if m[1] == "Downloading" {
		f.files = append(f.files, file{name: name, bytes: amount(m[3], m[4])})
	}
}

// amount reads "1.5" and "G"; "" is 0: a size that is not said.
func amount(number, unit string) float64 {
	n, _ := strconv.ParseFloat(number, 64)
	return n * cmp.Or(map[string]float64{"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[unit], 1)
}

// What is drawn of files: the largest few that take a while.
const (
	largeFile = 50 << 20
	mostBars  = 4
	barCells  = 20
)

// bars draws how far each large file is, by what the installer says of it.
func (f *follower) bars() (lines string) {
	large := slices.SortedFunc(slices.Values(f.files), func(a, b file) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, x := range large[:min(mostBars, len(large))] {
		if !x.drawn || x.bytes < largeFile || x.got > x.bytes || f.phase != "downloading" {
			continue
		}
		full := int(barCells * x.got / x.bytes)
		lines += fmt.Sprintf("\n    %-24s [%s%s] %3.0f %%, %s of %s", x.name, strings.Repeat("#", full), strings.Repeat("-", barCells-full),
			100*x.got/x.bytes, size(int64(x.got)), size(int64(x.bytes)))
	}
	return lines
}

// doing is what the program does: its phase, with the largest file that is under way.
func (f *follower) doing() string {
	if f.phase != "downloading" {
		return f.phase
	}
	what := f.phase
	if len(f.files) > 0 {
		largest := slices.MaxFunc(f.files, func(a, b file) int { return cmp.Compare(a.bytes, b.bytes) })
		what += " " + largest.name
	}
	what += say.With(" from ", f.host, "")
	return what
}

// line says how far the program is.
func (f *follower) line(now time.Time) string {
	var used int64
	for _, p := range f.places {
		if free, _, err := system.Free(p.dir); err == nil && free < p.free {
			used += int64(p.free - free)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	words := []string{"  " + f.doing()}
	rate := f.rate(sample{now, used})
	switch {
	case used < 1e6 || f.phase == "preparing" || f.phase == "finishing": // what grows then, others write
		used = 0
	case f.planned > used: // others write to that disk as well: beyond it nothing is known
		words = append(words, fmt.Sprintf("%d %%", used*100/f.planned), fmt.Sprintf("%s of about %s on disk", size(used), size(f.planned)))
	default:
		words = append(words, size(used)+" on disk")
	}
	if used > 0 && rate > 0 {
		words = append(words, size(rate)+"/s")
	}
	words = append(words, say.Clock(int(now.Sub(f.start).Seconds())))
	if left := f.planned - used; used > 0 && rate >= 1e5 && left > 0 {
		words = append(words, "about "+say.Clock(int(left/rate))+" left")
	}
	return f.fit(words)
}

// fit joins what is told in a line of the terminal, the time left before all else, with bars
// below it.
func (f *follower) fit(words []string) string {
	if f.run.screen.columns == nil {
		return strings.Join(words, ", ")
	}
	for most := f.run.screen.columns() - 1; most > 0 && len(words) > 2 && len([]rune(strings.Join(words, ", "))) > most; {
		words = slices.Delete(words, len(words)-2, len(words)-1)
	}
	return strings.Join(words, ", ") + f.bars()
}

// rate takes a sample and returns the bytes a second of the last while, 0 where there
// is no telling yet.
func (f *follower) rate(s sample) int64 {
	f.samples = append(f.samples, s)
	for len(f.samples) > 2 && s.at.Sub(f.samples[1].at) >= rateSpan {
		f.samples = f.samples[1:]
	}
	first := f.samples[0]
	span := s.at.Sub(first.at)
	if span < 2*time.Second || s.used <= first.used {
		return 0
	}
	return int64(float64(s.used-first.used) / span.Seconds())
}

// end stops following; the living line goes.
func (f *follower) end() {
	f.stop()
	f.run.screen.live("")
}

// phases are what an installer does, by the beginnings of the lines with which it says so.
var phases = []struct {
	means  string
	begins []string
}{
	{"looking", []string{"Looking in", "Using Python", "Collecting", "Obtaining dependency"}},
	{"choosing", []string{"Solving environment"}},
	{"preparing", []string{"Resolved"}}, // by links, of what is in uv's cache
	{"downloading", []string{"Downloading", "Get:"}},
	{"installing", []string{"Prepared", "Installing collected packages", "Preparing transaction", "Executing transaction", "Unpacking", "Setting up"}},
	{"building the kernel module", []string{"Building initial module"}},
	{"finishing", []string{"Processing triggers", "Installed", "Successfully installed"}},
}

// phase tells from a line what an installer is doing; "" nothing new.
func phase(line string) string {
	line = strings.TrimSpace(line)
	for _, p := range phases {
		if slices.ContainsFunc(p.begins, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			return p.means
		}
	}
	return ""
}
