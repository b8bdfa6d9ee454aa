package apply

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"envfix/internal/plan"
	"envfix/internal/system"
)

// A screen is where a person reads what happens. On a terminal its last line
// lives: it says how far a step is, and is gone when the next line comes.
type screen struct {
	out     io.Writer  // nil: nobody reads
	columns func() int // nil: out is no terminal

	mu    sync.Mutex
	alive bool // the living line is there
}

// erase goes to the beginning of the terminal's line and empties it.
const erase = "\r\x1b[K"

// print writes a line that stays.
func (s *screen) print(line string) {
	if s.out == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive {
		fmt.Fprint(s.out, erase)
		s.alive = false
	}
	fmt.Fprintln(s.out, line)
}

// live replaces the living line; "" removes it.
func (s *screen) live(line string) {
	if s.out == nil || s.columns == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if line == "" && !s.alive {
		return
	}
	text := []rune(line)
	if most := s.columns() - 1; most > 0 && len(text) > most { // a full line would wrap
		text = append(text[:most-1], '…')
	}
	fmt.Fprint(s.out, erase+string(text))
	s.alive = line != ""
}

// A follower reads a program's output for a person: as it is, where that was asked
// for, and else as the phase in which the program is.
type follower struct {
	run     *run
	start   time.Time
	planned int64   // bytes that it will put on disks; 0: unknown
	places  []place // where, with what was free there before

	mu    sync.Mutex
	phase string
	done  chan struct{}
	gone  sync.WaitGroup
}

// A place is a file system, with what was free on it.
type place struct {
	dir  string
	free uint64
}

// follow begins to follow the program of step i. end must be called.
func (s *screen) follow(r *run, i int) *follower {
	f := &follower{run: r, start: time.Now(), phase: "starting", done: make(chan struct{})}
	if r.plan.Steps[i].Verify != nil {
		f.phase = "computing"
	}
	if s.columns == nil || s.out == nil || r.Verbose {
		return f
	}
	for _, n := range r.needs([]plan.Step{r.plan.Steps[i]}) {
		f.planned += n.bytes
		if free, _, err := system.Free(n.dir); err == nil {
			f.places = append(f.places, place{n.dir, free})
		}
	}
	f.gone.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-f.done:
				return
			case <-tick.C:
				f.draw()
			}
		}
	})
	return f
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
	changed := f.phase != was
	f.mu.Unlock()
	if changed {
		f.draw()
	}
	return len(b), nil
}

func (f *follower) draw() {
	f.mu.Lock()
	words := []string{"  " + f.phase}
	f.mu.Unlock()
	var used int64
	for _, p := range f.places {
		if free, _, err := system.Free(p.dir); err == nil && free < p.free {
			used += int64(p.free - free)
		}
	}
	switch {
	case used < 1e6: // or all of it is in a cache
	case f.planned > 0:
		words = append(words, fmt.Sprintf("%s of about %s on disk", size(used), size(f.planned)))
	default:
		words = append(words, size(used)+" on disk")
	}
	words = append(words, clock(time.Since(f.start)))
	f.run.screen.live(strings.Join(words, ", "))
}

// end stops following; the living line goes.
func (f *follower) end() {
	close(f.done)
	f.gone.Wait()
	f.run.screen.live("")
}

// clock writes 102 s as 1:42.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// phases are the beginnings of lines with which an installer says that it does
// something else now.
var phases = []struct{ begin, means string }{
	{
		"Looking in",
		"looking",
	}, {"Using Python", "looking"}, {"Collecting package metadata", "looking"}, {"Collecting", "looking"}, {"Obtaining dependency", "looking"}, {"Solving environment", "choosing"},
	{"Resolved", "downloading"}, {"Downloading and Extracting", "downloading"}, {"Downloading", "downloading"}, {"Get:", "downloading"},
	{
		"Prepared",
		"installing",
	}, {"Installing collected packages", "installing"}, {"Preparing transaction", "installing"}, {"Executing transaction", "installing"},
	{
		"Unpacking",
		"installing",
	}, {"Setting up", "installing"}, {"Building initial module", "building the kernel module"}, {"Processing triggers", "finishing"},
	{"Installed", "finishing"}, {"Successfully installed", "finishing"},
}

// phase tells from a line what an installer is doing; "" nothing new.
func phase(line string) string {
	line = strings.TrimSpace(line)
	for _, p := range phases {
		if strings.HasPrefix(line, p.begin) {
			return p.means
		}
	}
	return ""
}

// existing is dir or the nearest directory above it that is there.
func existing(dir string) string {
	for dir != "" && dir != filepath.Dir(dir) {
		if _, _, err := system.Free(dir); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
