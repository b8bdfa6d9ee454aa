package apply

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"envfix/internal/system"
)

// A screen is where a person reads what happens. On a terminal its last lines
// live: they say how far a step is, and are gone when the next line comes.
type screen struct {
	out     io.Writer  // nil: nobody reads
	columns func() int // nil: out is no terminal

	mu    sync.Mutex
	alive int // how many living lines are there
}

// erase goes to the beginning of the terminal's line and empties it.
const erase = "\r\x1b[K"

// gone is what removes the living lines.
func (s *screen) gone() string {
	was := s.alive
	s.alive = 0
	if was > 1 {
		return fmt.Sprintf("\x1b[%dA\r\x1b[J", was-1)
	}
	return erase
}

// print writes a line that stays.
func (s *screen) print(line string) {
	if s.out == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive > 0 {
		fmt.Fprint(s.out, s.gone())
	}
	fmt.Fprintln(s.out, line)
}

// live replaces the living lines; "" removes them.
func (s *screen) live(text string) {
	if s.out == nil || s.columns == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" && s.alive == 0 {
		return
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		letters := []rune(line)
		if most := s.columns() - 1; most > 0 && len(letters) > most { // a full line would wrap
			lines[i] = string(append(letters[:most-1], '…'))
		}
	}
	fmt.Fprint(s.out, s.gone()+strings.Join(lines, "\n"))
	if text != "" {
		s.alive = len(lines)
	}
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
