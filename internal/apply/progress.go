package apply

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"

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
