package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// maxDocument bounds a document that is not read by lines, in bytes: a cluster of
// 5,000 nodes as `kubectl get nodes -o json` prints it is some 60 MB.
const maxDocument = 256 << 20

// Read reads machines in any form that is known: one machine a line, facts of one
// machine (named host where they do not say it), a list of them, Ansible's cached
// facts of one host, Kubernetes' and Slurm's lists of nodes as JSON, or CSV with a
// line of column names. from names the source in sentences. Its error says what the
// text is not; a machine that cannot be planned for is no error but a Problem.
func (in *Inventory) Read(r io.Reader, from, host string) error {
	b := bufio.NewReaderSize(r, maxLine)
	first, err := b.Peek(maxLine)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	first, rest, _ := bytes.Cut(bytes.TrimLeft(first, " \t\r\n\ufeff"), []byte("\n"))
	switch {
	case len(first) == 0:
		return errors.New("empty: it should hold machines, as `envfix facts --class` prints them")
	case first[0] != '{' && first[0] != '[':
		return in.readCSV(b, from)
	case len(bytes.TrimSpace(rest)) > 0 && json.Valid(first) && !isDocument(first):
		return in.ReadLines(b, from)
	}
	data, err := io.ReadAll(io.LimitReader(b, maxDocument+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxDocument:
		return fmt.Errorf("larger than %d MB: one machine a line, as `envfix facts --class` prints it, has no such limit", maxDocument>>20)
	}
	return in.readDocument(data, from, host)
}

// A document is the keys by which the known forms are told apart.
type document struct {
	Format *int              `json:"format"`
	Error  string            `json:"error"`
	Kind   string            `json:"kind"`
	Items  []json.RawMessage `json:"items"` // of Kubernetes
	Nodes  []json.RawMessage `json:"nodes"` // of Slurm
	Sinfo  []json.RawMessage `json:"sinfo"` // of Slurm's sinfo since 23.02
	Local  struct {
		Envfix json.RawMessage `json:"envfix"`
	} `json:"ansible_local"`
	Hostname string          `json:"ansible_hostname"`
	Facts    json.RawMessage `json:"ansible_facts"`
	Gathered bool            `json:"module_setup"` // by Ansible
	Payload  string          `json:"__payload__"`
}

func isDocument(line []byte) bool {
	var d document
	return json.Unmarshal(line, &d) == nil && d.Format == nil && d.Error == ""
}

func (in *Inventory) readDocument(data []byte, from, host string) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return fmt.Errorf("not JSON: %s", text.Printable(err.Error()))
		}
		for i, one := range list {
			in.addLine(bytes.TrimSpace(one), func() string { return fmt.Sprintf("%s#%d", from, i+1) })
		}
		return nil
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("not JSON: %s", text.Printable(err.Error()))
	}
	if d.Facts != nil { // a cache of gathered facts wraps them in some versions
		return in.readDocument(d.Facts, from, host)
	}
	if d.Payload != "" { // ansible-core 2.19 caches a text within JSON, in a file s1_HOST
		return in.readDocument([]byte(d.Payload), from, strings.TrimPrefix(host, "s1_"))
	}
	switch {
	case d.Items != nil:
		in.kubernetes(d.Items)
	case d.Nodes != nil:
		in.slurm(d.Nodes)
	case d.Sinfo != nil:
		in.sinfo(d.Sinfo)
	case d.Local.Envfix != nil:
		in.addLine(Named(d.Local.Envfix, cmp.Or(host, d.Hostname, from)), func() string { return cmp.Or(host, d.Hostname, from) })
	case d.Hostname != "" || d.Gathered:
		in.Problem(
			cmp.Or(host, d.Hostname, from),
			"Ansible's facts of it hold none of envfix: put `envfix facts --class` into /etc/ansible/facts.d/envfix.fact",
		)
	case d.Format == nil && d.Error == "":
		return errors.New("holds no machines: facts, Ansible's, Kubernetes' and Slurm's JSON and CSV are read")
	default:
		in.addLine(Named(data, host), func() string { return from })
	}
	return nil
}

// Named puts a host's name before facts that carry none; "" leaves them as they are.
func Named(facts []byte, host string) []byte {
	var head struct {
		Host string `json:"host"`
	}
	facts = bytes.TrimSpace(facts)
	if json.Unmarshal(facts, &head) != nil || head.Host != "" || host == "" || len(facts) == 0 || facts[0] != '{' {
		return facts
	}
	quoted, _ := json.Marshal(host)
	return append([]byte(`{"host":`+string(quoted)+`,`), facts[1:]...)
}

// words describe a machine as the flags do.
type words struct {
	describe.Machine
	python string
}

// machine turns words into facts. Its error is for people.
func (w words) machine() (machine.Machine, error) {
	h := machine.Machine{
		Format:   machine.Format,
		Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Bare, Libc: &machine.Libc{Kind: "glibc"}},
	}
	w.Whole = true
	if err := w.Override(&h); err != nil {
		return h, err
	}
	p, err := describe.Python(w.python)
	if p != "" {
		h.Pythons = []machine.Python{{Version: p}}
	}
	for i := range h.GPUs {
		h.GPUs[i].Evidence = ""
	}
	return h, err
}

// described adds a machine of words; one that they do not describe is a Problem.
func (in *Inventory) described(host string, w words) {
	h, err := w.machine()
	if err != nil {
		in.Problem(host, sentence(err))
		return
	}
	in.Add(host, h)
}

// sentence is an error with its first hint, in one line.
func sentence(err error) string {
	if f, ok := errors.AsType[*fail.Error](err); ok && len(f.Hints) > 0 {
		return f.Error() + ": " + f.Hints[0]
	}
	return err.Error()
}

// columns of CSV; host and gpu must be there.
var columns = []string{"host", "gpu", "driver", "os", "arch", "python", "libc"}

func (in *Inventory) readCSV(r io.Reader, from string) error {
	c := csv.NewReader(r)
	c.FieldsPerRecord, c.TrimLeadingSpace, c.ReuseRecord = -1, true, true
	head, err := c.Read()
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, name := range head {
		at[strings.ToLower(strings.Trim(name, " \ufeff"))] = i
	}
	_, host := at["host"]
	_, gpu := at["gpu"]
	if !host || !gpu {
		return fmt.Errorf("neither JSON nor CSV with the columns host and gpu (also read: %s)", strings.Join(columns[2:], ", "))
	}
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		cell := func(name string) string {
			if i, ok := at[name]; ok && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		line, _ := c.FieldPos(0)
		in.described(cmp.Or(cell("host"), fmt.Sprintf("%s:%d", from, line)), words{describe.Machine{GPUs: gpuList(cell("gpu")),
			Driver: cell("driver"), OS: system(cell("os")), Arch: cell("arch"), Libc: cell("libc")}, cell("python")})
	}
}

// distribution is the beginning of the names by which inventories call Linux.
var distribution = lazy.Regexp(`(?i)^(ubuntu|debian|red ?hat|rhel|centos|rocky|alma(?:linux)?|oracle linux|fedora|` +
	`amazon linux|suse|sles|opensuse|arch linux|linux mint|pop!_os)\b`)

// system is the system of "Ubuntu 22.04" and "Windows 11"; others stay as they are.
func system(cell string) string {
	lower := strings.ToLower(cell)
	switch {
	case distribution().MatchString(cell):
		return "linux"
	case strings.HasPrefix(lower, "windows "), strings.HasPrefix(lower, "microsoft windows"):
		return "windows"
	case strings.HasPrefix(lower, "macos "):
		return "macos"
	}
	return cell
}

// gpuList reads "2x H100", "T4; V100" and "none".
func gpuList(cell string) []string {
	var out []string
	for _, one := range strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == '+' }) {
		one = strings.TrimSpace(one)
		n := 1
		if i := strings.IndexAny(one, "x×* "); i > 0 && strings.Trim(one[:i], "0123456789") == "" &&
			(one[i] != ' ' || strings.HasPrefix(strings.TrimSpace(one[i:]), "x")) {
			fmt.Sscan(one[:i], &n)
			one = strings.TrimLeft(one[i:], "x×* ")
		}
		if one == "" || strings.EqualFold(one, "none") || one == "-" {
			continue
		}
		for range min(max(n, 1), 2) { // a class keeps two of equal ones
			out = append(out, one)
		}
	}
	return out
}
