package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"envfix/internal/fail"
	"envfix/internal/system"
)

// A State is one kind of line of the journal.
type State string

// The states of a plan and of its steps.
const (
	Begin     State = "begin"     // a plan starts
	Intent    State = "intent"    // a step is about to act
	Done      State = "done"      // a step has acted
	Waiting   State = "waiting"   // for a reboot, or for a person
	Switched  State = "switched"  // the environment is now this generation
	Failure   State = "failed"    // the plan ended here
	End       State = "end"       // the plan is carried out
	Abandoned State = "abandoned" // given up with --abandon
	Recovered State = "recovered" // a later run found it cut off, and cleaned up
	Collected State = "collected" // a generation was removed
	Rolled    State = "rollback"  // the environment is an earlier generation again
)

// An Entry is one line of the journal: what is about to happen, or has.
type Entry struct {
	Seq   int    `json:"seq"`
	Time  string `json:"time"` // RFC 3339, UTC; for people: order is by Seq
	State State  `json:"state"`
	Plan  string `json:"plan,omitempty"`
	Env   string `json:"env,omitempty"` // the environment's name
	Gen   string `json:"gen,omitempty"`
	Step  string `json:"step,omitempty"`
	Note  string `json:"note,omitempty"`
	PID   int    `json:"pid"`
	Boot  string `json:"boot,omitempty"`
}

const journalName = stateDir + "/journal.jsonl"

// maxJournal is more than a century of daily use.
const maxJournal = 64 << 20

// A journal is written ahead: each line is durable before what it announces
// happens.
type journal struct {
	f       *os.File
	size    int64
	entries []Entry
	boot    string // of this start of the machine
}

// checksum of a line; its table is made where a journal is read, not at every start.
func checksum(line []byte) uint32 { return crc32.Checksum(line, crc32.MakeTable(crc32.Castagnoli)) }

// openJournal reads the journal below root and opens it for more. A last line
// that was cut off, or is damaged, is what a crash leaves and is dropped; any
// other damage is an error, because then nobody knows what happened.
func openJournal(root *os.Root) (*journal, error) {
	entries, good, size, err := readJournal(root)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(journalName, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{f: f, size: int64(good), entries: entries, boot: bootID()}
	if good < size {
		if err := f.Truncate(j.size); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return j, nil
}

// readJournal reads the journal, if there is one: how much of it is good, and its size.
func readJournal(root *os.Root) (entries []Entry, good, size int, err error) {
	name := filepath.Join(root.Name(), journalName)
	info, err := root.Lstat(journalName)
	switch {
	case gone(err):
		return nil, 0, 0, nil
	case err != nil:
		return nil, 0, 0, Wrap(err)
	case !info.Mode().IsRegular() || info.Size() > maxJournal:
		return nil, 0, 0, damaged(name, 1, "it is no journal")
	}
	b, err := root.ReadFile(journalName)
	if err != nil {
		return nil, 0, 0, Wrap(err)
	}
	entries, good, err = parseJournal(name, b)
	return entries, good, len(b), err
}

// parseJournal returns the entries and how many bytes of b they are.
func parseJournal(name string, b []byte) (entries []Entry, good int, err error) {
	for line := 1; good < len(b); line++ {
		text, _, whole := bytes.Cut(b[good:], []byte("\n"))
		e, err := parseEntry(text)
		if err == nil && e.Seq != line {
			err = fmt.Errorf("it has number %d", e.Seq)
		}
		if err != nil || !whole {
			if good+len(text)+1 >= len(b) {
				return entries, good, nil
			}
			return nil, 0, damaged(name, line, err.Error())
		}
		entries = append(entries, e)
		good += len(text) + 1
	}
	return entries, good, nil
}

func damaged(name string, line int, why string) error {
	return &fail.Error{Code: fail.Integrity, Text: fmt.Sprintf("line %d of the journal %s is damaged: %s", line, name, why),
		Hints: []string{"`envfix apply --abandon` puts the journal aside; the environment that is there stays as it is"}}
}

// crcField is how a line ends: its checksum is over all that stands before.
const crcField = `,"crc32c":"`

func parseEntry(line []byte) (Entry, error) {
	var e Entry
	i := bytes.LastIndex(line, []byte(crcField))
	if i < 0 {
		return e, errors.New("it has no checksum")
	}
	want := fmt.Sprintf(`%s%08x"}`, crcField, checksum(line[:i]))
	if string(line[i:]) != want {
		return e, errors.New("its checksum does not belong to it")
	}
	if err := json.Unmarshal(append(bytes.Clone(line[:i]), '}'), &e); err != nil {
		return e, fmt.Errorf("it is not JSON: %w", err)
	}
	return e, nil
}

func encodeEntry(e Entry) ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	return fmt.Appendf(b, "%s%08x\"}\n", crcField, checksum(b)), nil
}

// add makes one line durable. A line that could not be written whole is taken
// back.
func (j *journal) add(e Entry) error {
	e.Seq = len(j.entries) + 1
	e.Time = time.Now().UTC().Format(time.RFC3339)
	e.PID = os.Getpid()
	e.Boot = j.boot
	line, err := encodeEntry(e)
	if err != nil {
		return err
	}
	half := len(line) / 2
	_, err = j.f.WriteAt(line[:half], j.size)
	if err == nil {
		err = system.Point("journal-torn")
	}
	if err == nil {
		_, err = j.f.WriteAt(line[half:], j.size+int64(half))
	}
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("journal: %w", err), j.f.Truncate(j.size))
	}
	j.size += int64(len(line))
	j.entries = append(j.entries, e)
	return nil
}

func (j *journal) close() error { return j.f.Close() }

// bootID changes with every start of the machine; "" where nothing tells it.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// setAside renames a journal that cannot be read.
func setAside(root *os.Root) error {
	for n := 1; n < 1000; n++ {
		name := fmt.Sprintf("%s.damaged-%d", journalName, n)
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return root.Rename(journalName, name)
		}
	}
	return fmt.Errorf("%s: too many damaged journals are kept", journalName)
}
