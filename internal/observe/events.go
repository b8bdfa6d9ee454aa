package observe

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"

	"envfix/internal/observe/verdict"
	"envfix/internal/text"
)

// A note is a line of a probe's file: what it adds, in the names of verdict.Probe.
type note struct {
	*verdict.Probe
	Loader  *verdict.Loader `json:"loader"`  // a DataLoader that was made
	Feeds   int64           `json:"feeds"`   // a data set that a training step used: another loader is one for validation
	Changes int64           `json:"changes"` // a data set that the job changed between two epochs
	Where   *verdict.Where  `json:"where"`   // a later one has counted on
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
			p.Loaders = append(p.Loaders, *l)
		}
		for i := range p.Loaders {
			l := &p.Loaders[i]
			l.Trains, l.Changes = l.Trains || of.Feeds != 0 && l.Data == of.Feeds, l.Changes || of.Changes != 0 && l.Data == of.Changes
		}
	}
	if p.Crash != nil {
		p.Crash.Text = text.Redact(p.Crash.Text)
	}
	scrub(reflect.ValueOf(p), longest)
	return p
}
