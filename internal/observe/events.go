package observe

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

// A note is a line of a probe's file: what it adds, in the names of verdict.Probe.
type note struct {
	*verdict.Probe
	Loader *verdict.Loader `json:"loader"` // a DataLoader that was made
	Feeds  int64           `json:"feeds"`  // a data set that a training step used: another loader is one for validation
	Where  *verdict.Where  `json:"where"`  // a later one has counted on
}

const mostEvents = 80 // a probe writes 64 at most

// readEvents reads what a probe wrote about its process. The file belongs to
// the job, so everything in it is checked and cleaned; a broken line is left out.
func readEvents(path string) *verdict.Probe {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, 512<<10)
	n, _ := f.ReadAt(data, 0)
	return parseEvents(data[:n])
}

func parseEvents(data []byte) *verdict.Probe {
	p, n := &verdict.Probe{}, 0
	for line := range bytes.Lines(data) {
		of := note{Probe: p}
		if n++; n > mostEvents || json.Unmarshal(line, &of) != nil {
			continue
		}
		if of.Where != nil {
			p.Where = of.Where
		}
		if l := of.Loader; l != nil {
			l.Source, l.Setting = sourceLine(l.Where), settingLine(l.Own)
			p.Loaders = append(p.Loaders, *l)
		}
		for i := range p.Loaders {
			p.Loaders[i].Trains = p.Loaders[i].Trains || of.Feeds != 0 && p.Loaders[i].Data == of.Feeds
		}
	}
	if p.Crash != nil {
		p.Crash.Text = text.Redact(p.Crash.Text)
	}
	scrub(reflect.ValueOf(p), longest)
	return p
}

// source reads the lines of a file that a place like train.py:12 names. Only a
// regular file is read, and only one that people write.
func source(where string) (lines []string, n int) {
	file, number, ok := cutLast(where, ":")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return nil, 0
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() || st.Size() > 4<<20 {
		return nil, 0
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, 0
	}
	return strings.Split(string(data), "\n"), n
}

// sourceLine is the line that a place names, to propose a change of it.
func sourceLine(where string) string {
	lines, n := source(where)
	if n > len(lines) || n == 0 || len(lines[n-1]) > 300 {
		return ""
	}
	return lines[n-1]
}

// settings are the calls by which the users of libraries set their loader.
var settings = []string{"TrainingArguments(", "SFTConfig("}

// settingLine finds in a job's own file the line that sets a library's loader; ""
// where there is none.
func settingLine(own string) string {
	lines, n := source(own)
	if n == 0 {
		return ""
	}
	file, _, _ := cutLast(own, ":")
	for i, line := range lines {
		for _, call := range settings {
			if at := strings.Index(line, call); at >= 0 && !strings.Contains(line[:at], "#") {
				return file + ":" + strconv.Itoa(i+1)
			}
		}
	}
	return ""
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
