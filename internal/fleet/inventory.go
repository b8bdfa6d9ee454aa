// Package fleet answers for many machines at once: which classes of machines there
// are, one choice of torch and build for all of them where one exists, else the
// fewest groups, and what keeps the groups apart. It runs nothing on any machine:
// what reaches many hosts is Ansible, Slurm or Kubernetes.
package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"envfix/internal/machine"
)

// An Inventory is machines by class.
type Inventory struct {
	Classes  []*Class  // in the order of their lines
	Problems []Problem // machines that nothing is known of; none is dropped

	byRaw  map[string]*Class // facts as they were written → class
	byLine map[string]*Class // class line → class
	count  int               // of machines without a name so far
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
// host's name as its "host". A line that holds an "error" in place of facts is a
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

var hostKey = []byte(`{"host":"`)

// addLine reads one machine. Machines of one class differ in their host alone: its
// name is cut off and the rest looked up as bytes, so that a known class is not
// decoded again.
func (in *Inventory) addLine(line []byte, at func() string) {
	host, facts := cutHost(line)
	if c, ok := in.byRaw[string(facts)]; ok {
		in.add(c, host, at)
		return
	}
	var head struct {
		Host  string `json:"host"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(facts, &head) // a line that is no JSON fails below, with its place
	if host == "" {
		host = head.Host
	}
	if head.Error != "" {
		in.Problem(in.name(host, at), "could not be asked: "+head.Error)
		return
	}
	m, err := machine.Decode(facts)
	if err != nil {
		in.Problem(in.name(host, at), err.Error())
		return
	}
	c := in.class(m)
	if len(facts) <= maxRaw {
		in.byRaw[string(facts)] = c
	}
	in.add(c, host, at)
}

// cutHost splits `{"host":"n1",REST` into n1 and `{REST`. Any other form is left as
// it is, and read by the JSON decoder.
func cutHost(line []byte) (host string, rest []byte) {
	after, ok := bytes.CutPrefix(line, hostKey)
	if !ok {
		return "", line
	}
	end := bytes.IndexByte(after, '"')
	if end < 0 || bytes.IndexByte(after[:end], '\\') >= 0 || end+1 >= len(after) || after[end+1] != ',' {
		return "", line
	}
	host = string(after[:end])
	rest = after[end+1:]
	rest[0] = '{' // in the place of the comma
	return host, rest
}

// Add puts a machine into its class.
func (in *Inventory) Add(host string, m machine.Machine) {
	in.add(in.class(m), host, func() string { return "" })
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

func (in *Inventory) add(c *Class, host string, at func() string) {
	c.Hosts = append(c.Hosts, in.name(host, at))
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
	if len(in.Classes) < 2 {
		return
	}
	var all []string
	for _, c := range in.Classes {
		all = append(all, c.Hosts...)
	}
	slices.Sort(all)
	twice := map[string]bool{}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			twice[all[i]] = true
		}
	}
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

// Machines is how many machines were read, those with problems included.
func (in *Inventory) Machines() int {
	n := len(in.Problems)
	for _, c := range in.Classes {
		n += len(c.Hosts)
	}
	return n
}
