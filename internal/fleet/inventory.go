// Package fleet answers for many machines at once: which classes of machines there
// are, one choice of torch and build for all of them where one exists, else the
// fewest groups, and what keeps the groups apart. It runs nothing on any machine:
// what reaches many hosts is Ansible, Slurm or Kubernetes.
package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// An Inventory is machines by class.
type Inventory struct {
	Classes  []*Class  // in the order of their lines
	Problems []Problem // machines that nothing is known of; none is dropped

	// Oldest is the time, in UTC as 2006-01-02T15:04:05Z, before which facts are too old
	// to plan with; "" takes facts of any age. Facts that name no time are taken.
	Oldest string

	byRaw  map[string]*Class // facts as they were written → class
	byLine map[string]*Class // class line → class
	count  int               // of machines without a name so far
	names  *strings.Builder  // the names of some machines, one behind the other
}

// A Class is machines that get the same answer.
type Class struct {
	Facts machine.Machine
	Line  string   // its class line
	Hosts []string // sorted, each once
}

// A Problem is a machine that cannot be planned for, and why.
type Problem struct {
	Host string `json:"host"`
	Why  string `json:"why"`
}

// New returns an empty Inventory.
func New() *Inventory {
	return &Inventory{byRaw: map[string]*Class{}, byLine: map[string]*Class{}}
}

// maxLine is the longest line that is read, in bytes: full facts of a host are
// some 13,000.
const maxLine = machine.MaxBytes

// maxRaw bounds what is remembered of lines as they were written: full facts differ
// on every host, and keeping them all would cost more than decoding them.
const maxRaw = 4096

// ReadLines reads one machine a line: facts, or their class line, either with the
// host's name as its "host" and the time of the look as its "at". A line that holds an "error" in place of facts is a
// machine that could not be asked. from names the source in sentences. Its error is
// that of r, or of a line that is too long.
func (in *Inventory) ReadLines(r io.Reader, from string) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; sc.Scan(); n++ {
		if line := bytes.TrimSpace(sc.Bytes()); len(line) > 0 {
			in.addLine(line, func() string { return fmt.Sprintf("%s:%d", from, n) })
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes: one machine a line is read, as `envfix facts --class` prints it", maxLine)
	}
	return sc.Err()
}

// addLine reads one machine. Machines of one class differ in their host and time
// alone: those are cut off and the rest looked up as bytes, so that a known class is
// not decoded again.
func (in *Inventory) addLine(line []byte, at func() string) {
	name, facts := cutText(line, `{"host":"`)
	when, facts := cutText(facts, `{"at":"`)
	host := in.keep(name)
	if c, ok := in.byRaw[string(facts)]; ok {
		in.addAt(c, in.name(host, at), string(when))
		return
	}
	var head struct {
		Host  string `json:"host"`
		At    string `json:"at"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(facts, &head) // a line that is no JSON fails below, with its place
	host = in.name(cmp.Or(host, head.Host), at)
	if head.Error != "" {
		in.Problem(host, "could not be asked: "+head.Error)
		return
	}
	m, err := machine.Decode(facts)
	if err != nil {
		in.Problem(host, err.Error())
		return
	}
	c := in.class(m)
	if len(facts) <= maxRaw && head.Host == "" && head.At == "" {
		in.byRaw[string(facts)] = c
	}
	in.addAt(c, host, cmp.Or(string(when), head.At))
}

// keep is a name as a string. A million strings of their own would take half as much
// memory again; a Builder's text stays where it is while it only grows within its room.
func (in *Inventory) keep(name []byte) string {
	const room = 64 << 10
	if len(name) == 0 {
		return ""
	}
	if in.names == nil || in.names.Cap()-in.names.Len() < len(name) {
		in.names = &strings.Builder{}
		in.names.Grow(max(room, len(name)))
	}
	from := in.names.Len()
	in.names.Write(name)
	return in.names.String()[from:]
}

// cutText splits `{"host":"n1",REST` into n1 and `{REST`, where key is `{"host":"`.
// Any other form is left as it is, and read by the JSON decoder. It writes into line.
func cutText(line []byte, key string) (text, rest []byte) {
	if len(line) <= len(key) || string(line[:len(key)]) != key {
		return nil, line
	}
	after := line[len(key):]
	end := bytes.IndexByte(after, '"')
	if end < 0 || bytes.IndexByte(after[:end], '\\') >= 0 || end+1 >= len(after) || after[end+1] != ',' {
		return nil, line
	}
	text = after[:end]
	rest = after[end+1:]
	rest[0] = '{' // in the place of the comma
	return text, rest
}

// addAt puts a machine into its class unless its facts are too old.
func (in *Inventory) addAt(c *Class, host, when string) {
	switch {
	case when == "" || in.Oldest == "":
	case !timeForm().MatchString(when):
		in.Problem(host, fmt.Sprintf("the time of its facts, %q, is not of the form 2006-01-02T15:04:05Z", text.Clip(when, 40)))
		return
	case when < in.Oldest:
		in.Problem(host, "its facts are of "+when+", which is too old: ask it again")
		return
	}
	c.Hosts = append(c.Hosts, host)
}

// timeForm is 2006-01-02T15:04:05Z, whose order as text is that of time.
var timeForm = lazy.Regexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)

// Add puts a machine into its class.
func (in *Inventory) Add(host string, m machine.Machine) {
	in.addAt(in.class(m), in.name(host, func() string { return "" }), "")
}

// Problem notes a machine that nothing is known of.
func (in *Inventory) Problem(host, why string) {
	in.Problems = append(in.Problems, Problem{host, why})
}

func (in *Inventory) class(m machine.Machine) *Class {
	line := string(m.ClassLine())
	c := in.byLine[line]
	if c == nil {
		c = &Class{Facts: m.Class(), Line: line}
		in.byLine[line] = c
		in.Classes = append(in.Classes, c)
	}
	return c
}

// name is what a machine is called: its host, else where it was read.
func (in *Inventory) name(host string, at func() string) string {
	if host != "" {
		return host
	}
	if place := at(); place != "" {
		return place
	}
	in.count++
	return fmt.Sprintf("machine %d", in.count)
}

// Close sorts what was read: the order of the input changes nothing. A host that was
// read twice with the same facts counts once; with different facts it is a problem,
// because nobody can say which are true.
func (in *Inventory) Close() {
	for _, c := range in.Classes {
		slices.Sort(c.Hosts)
		c.Hosts = slices.Compact(c.Hosts)
	}
	in.dropTwice()
	in.Classes = slices.DeleteFunc(in.Classes, func(c *Class) bool { return len(c.Hosts) == 0 })
	slices.SortFunc(in.Classes, func(a, b *Class) int { return strings.Compare(a.Line, b.Line) })
	slices.SortStableFunc(in.Problems, func(a, b Problem) int { return strings.Compare(a.Host, b.Host) })
	in.Problems = slices.Compact(in.Problems)
}

func (in *Inventory) dropTwice() {
	twice := in.twice()
	if len(twice) == 0 {
		return
	}
	for _, c := range in.Classes {
		c.Hosts = slices.DeleteFunc(c.Hosts, func(h string) bool { return twice[h] })
	}
	for h := range twice {
		in.Problem(h, "read twice with different facts: keep the newer ones")
	}
}

// twice returns the hosts that stand in more than one class: in one a host stands once.
func (in *Inventory) twice() map[string]bool {
	twice := map[string]bool{}
	if len(in.Classes) < 2 {
		return twice
	}
	all := slices.Concat(text.Each(in.Classes, func(c *Class) []string { return c.Hosts })...)
	slices.Sort(all)
	for i, host := range all[1:] {
		if host == all[i] {
			twice[host] = true
		}
	}
	return twice
}

// Machines is how many machines were read, those with problems included.
func (in *Inventory) Machines() int {
	n := len(in.Problems)
	for _, c := range in.Classes {
		n += len(c.Hosts)
	}
	return n
}
