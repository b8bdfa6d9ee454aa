package observe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"envfix/internal/text"
)

// A spy looks at a process that was not started by envfix, by py-spy: a tool that
// reads a Python's stacks from outside. nil: there is nothing to look at.
type spy struct {
	program string // "" it is not installed
	pid     int
	looks   int
	seen    map[string]int // by the place on top of the main thread
	problem string
}

func newSpy(pid int) *spy {
	program, _ := exec.LookPath("py-spy")
	return &spy{program: program, pid: pid, seen: map[string]int{}}
}

// A spiedThread is a thread as `py-spy dump --json` prints it.
type spiedThread struct {
	Name   string `json:"thread_name"`
	Frames []struct {
		Name string `json:"name"`
		File string `json:"filename"`
		Line int    `json:"line"`
	} `json:"frames"`
}

// look takes one look; what keeps it from looking is told once.
func (s *spy) look() {
	if s == nil || s.program == "" || s.problem != "" {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, s.program, "dump", "--json", "--pid", strconv.Itoa(s.pid)).Output()
	var threads []spiedThread
	if err != nil || json.Unmarshal(out, &threads) != nil || len(threads) == 0 {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			out = failed.Stderr
		}
		s.problem = "py-spy could not look: " + text.Clip(string(bytes.TrimSpace(out)), 200)
		return
	}
	main := threads[max(0, slices.IndexFunc(threads, func(t spiedThread) bool { return t.Name == "MainThread" }))]
	s.looks++
	s.seen[main.place()]++
}

// place is the job's own line that is nearest to the top, and what it calls.
func (t spiedThread) place() string {
	for i, f := range t.Frames {
		if strings.Contains(f.File, "-packages/") || strings.Contains(f.File, "/lib/python") || strings.HasPrefix(f.File, "<frozen") {
			continue
		}
		said := fmt.Sprintf("%s (%s:%d)", f.Name, f.File, f.Line)
		if i > 0 {
			said += ", which calls " + t.Frames[i-1].Name
		}
		return text.Clip(said, 200)
	}
	return "a library"
}

// notes are what was seen, or why nothing was.
func (s *spy) notes() []string {
	switch {
	case s == nil:
		return nil
	case s.program == "":
		return []string{"the job was not started by `envfix run`, and py-spy, which could look at its stacks, is not installed: pip install py-spy"}
	case s.looks == 0 && s.problem != "": // a job that has ended cannot be looked at either
		return []string{s.problem}
	}
	places := slices.SortedFunc(maps.Keys(s.seen), func(a, b string) int { return cmp.Or(s.seen[b]-s.seen[a], strings.Compare(a, b)) })
	notes := []string{}
	for _, at := range places[:min(3, len(places))] {
		notes = append(notes, fmt.Sprintf("by %d looks of py-spy the main thread was %d %% of the time in %s", s.looks, 100*s.seen[at]/s.looks, at))
	}
	return notes
}
