package observe

import (
	"os"
	"strconv"
	"strings"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

// An event is a line of a probe's file. Its kind says which of the types below it
// is; each puts what it says into the Probe.
type event interface{ apply(p *verdict.Probe) }

// newEvent is an empty event of a kind; nil for one that is not known.
func newEvent(kind string) event {
	switch kind {
	case "torch":
		return &torchEvent{}
	case "available":
		return &availableEvent{}
	case "loader":
		return &loaderEvent{}
	case "batch":
		return &batchEvent{}
	case "config":
		return &configEvent{}
	case "burst":
		return &burstEvent{}
	case "feeds":
		return &feedsEvent{}
	case "where":
		return &whereEvent{}
	case "parallel":
		return &parallelEvent{}
	case "crash":
		return &crashEvent{}
	case "end":
		return &endEvent{}
	case "try":
		return &tryEvent{}
	case "deep":
		return &deepEvent{}
	case "probe_error":
		return &errorEvent{}
	}
	return nil
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

func cleanPtr(s *string) *string {
	if s == nil {
		return nil
	}
	c := text.Clip(*s, 200)
	return &c
}

func short(s *string) string {
	if s == nil {
		return ""
	}
	return text.Clip(*s, 30)
}

func number(n *int) int {
	if n == nil || *n < 0 {
		return 0
	}
	return *n
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
	return text.Clip(lines[n-1], 300)
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
				return place(file + ":" + strconv.Itoa(i+1))
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
