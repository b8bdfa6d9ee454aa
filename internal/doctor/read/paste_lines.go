package read

import (
	"fmt"
	"slices"
	"strings"

	"envfix/internal/doctor/know"
	"envfix/internal/lazy"
)

// A trial is one expression on one line, made when it is first asked for.
type trial struct {
	test  int // of the pass
	made  bool
	match []string // nil: none
}

// trials are those that are worth making on a line. Logs repeat lines, and an expression says
// the same of each: again is true where the line was here before.
func (r *Reader) trials(l string) (due []trial, again bool) {
	if due, again = r.tried[l]; again {
		return due, true
	}
	tests := r.pass.Candidates(l)
	due = make([]trial, len(tests))
	for i, n := range tests {
		due[i].test = n
	}
	if len(r.tried) < remembered {
		r.tried[l] = due
	}
	return due, false
}

// match makes a trial; it returns the match and its groups, nil where there is none.
func (r *Reader) match(t *trial, l string) []string {
	if !t.made {
		r.spent += len(l)
		t.made, t.match = true, r.pass.Tests[t.test].Re().FindStringSubmatch(l)
	}
	return t.match
}

// inVain leads a remedy that somebody carried out, as they say in a line of its own.
const inVain = "did not help: "

// setInVain is a variable that somebody set, and that changed nothing.
var setInVain = lazy.Regexp(`(\b[A-Z][A-Z0-9]*_[A-Z0-9_]{3,}=[^\s\x60"',;]+)[\x60"']?,? (?:\w+ ){0,3}(?:(?:does|did|do|has)(?: ?n.t| not) ` +
	`(?:help|chang|fix|work|make|solv|matter)|(?:makes|made|with|has|had) (?:no|the same)\b|changes nothing|in vain)`)

// setBefore is a variable that somebody says to have set before it was asked for.
var setBefore = lazy.Regexp(`(?i:\b(?:already|tried|did|have|i|with)\b(?: \w+){0,4}? +(?:did|done|set|setting|tried|us(?:ed|ing)|export(?:ed|ing)?|add(?:ed|ing)|put)\b[\s:\x60"']{1,4}` +
	`(?:export +|set +)?)([A-Z][A-Z0-9]*_[A-Z0-9_]{3,}=[^\s\x60"',;]+)`)

// vainly takes in what a line says was tried in vain: the variable, and whether the line
// speaks of nothing else.
func (c *Case) vainly(l string) (variable string, whole bool) {
	if _, way, done := strings.Cut(l, inVain); done {
		c.Did.InVain = append(c.Did.InVain, way)
		return "", true
	}
	if m := setInVain().FindStringSubmatch(l); m != nil {
		c.Did.InVain = append(c.Did.InVain, m[1])
		return m[1], false
	}
	if m := setBefore().FindStringSubmatch(l); m != nil {
		c.Did.InVain = append(c.Did.InVain, m[1])
	}
	return "", false
}

// A look is one line while it is matched.
type look struct {
	r       *Reader
	text    string
	bare    string // without the place that Python writes before a warning
	said    Evidence
	joined  bool       // it is two lines
	again   bool       // it was here before
	below   bool       // it is a log's, below a warning
	code    bool       // it is a statement of a program
	vain    string     // the variable that it says was set in vain
	matched bool       // by a message
	form    *know.Test // of the sentence
}

// try matches a line. Of the messages only the first counts. Two lines joined
// yield messages and parts of clues that neither line held alone, and no facts.
func (r *Reader) try(l string, said Evidence, joined bool) {
	vain, whole := r.c.vainly(l)
	if whole {
		return
	}
	r.whole = l
	due, again := r.trials(l)
	k := look{r: r, text: l, bare: l[len(placed().FindString(l)):], said: said, joined: joined, again: again, below: Quiet(l), vain: vain,
		code: isSource(l) || framed().MatchString(r.prev) && (joined || strings.HasPrefix(l, " ") && !raised().MatchString(l))}
	for i := range due {
		if r.spent > 2*budget { // a line that looks like every message
			break
		}
		k.trial(&due[i])
	}
	if !k.matched && !again && len(r.c.Printed) < maxPrinted && !isStep(l) && !k.mere() {
		r.printed(k.form, k.bare, said)
	}
}

// mere reports whether the line is no message: a statement, a log's below a warning, or two of
// which one is told already.
func (k *look) mere() bool { return k.code || k.below || k.joined && k.r.heard(k.said.Line) }

// trial makes one trial on the line.
func (k *look) trial(t *trial) {
	r := k.r
	test := &r.pass.Tests[t.test]
	switch {
	case test.Message >= 0:
		k.message(t, test.Message)
	case test.Clue >= 0:
		if !k.harmless() && !k.again && r.read <= wordy && !k.code {
			r.keep(t.test, k.text, k.said)
		}
	case k.joined:
	case test.Class >= 0:
		if k.form == nil && r.match(t, k.text) != nil && know.Slots(test.Re(), k.bare) != nil {
			k.form = test
		}
	case test.Reader >= 0:
		x := r.k.Readers[test.Reader]
		if x.Once && (r.answered[test.Reader] || (k.below || k.harmless()) && !x.Anywhere) {
			return
		}
		if m := r.match(t, k.text); m != nil {
			r.c.Read++
			r.answered[test.Reader] = true
			r.answer(x, m, k.said)
		}
	}
}

// harmless reports whether a form says that nothing is wrong, whatever else the line holds.
func (k *look) harmless() bool { return k.form != nil && k.r.k.Classes[k.form.Class].Harmless }

// message tries a message, by its number, where none was found yet.
func (k *look) message(t *trial, n int) {
	r := k.r
	if k.matched || k.harmless() || r.count[n] > 1000 || k.joined && r.count[n] > 0 {
		return
	}
	if !quiet().MatchString(r.k.Messages[n].Example) && (quiet().MatchString(k.text) || k.below && !troubled(r.k, k.text)) {
		return // what its program does not call a fault is none, unless the message is known as such a line
	}
	m := r.match(t, k.text)
	if m == nil || k.theirs(r.k.Messages[n].Program) || supposed(k.text, m[0]) || k.code || isStep(k.text) || k.vain != "" && strings.Contains(k.vain, m[0]) {
		return
	}
	if k.matched = !k.joined || !already(r.c.Hits, k.said.Line); k.matched {
		r.hit(t.test, m, k.said)
	}
}

// theirs reports whether another program than this one ("torch", "torch/nccl"), which a message
// is about, is known to have printed the line: the frame that raised it is another's, or the
// sentence is. What comes through from below (a library, a driver, the system) is no program of
// the catalogue, and any prints it.
func (k *look) theirs(program string) bool {
	if !k.r.k.Printed.Speaks(program) {
		return false
	}
	said := k.r.frame.program
	if f := k.r.frame; !f.raises || k.said.Line-f.line > inFrame {
		row, found := k.r.k.Printed.Find(k.bare)
		if !found || row.Code || row.Shared {
			return false
		}
		said = row.Program
	}
	return !slices.ContainsFunc(strings.Split(program, "/"), func(p string) bool { return frame{program: p}.of(said) })
}

var (
	// quiet is a line of a log below a warning: by its level's name, or by the letter of glog, klog and their like.
	quiet = lazy.Regexp(`^` + before + `(?:\[?[\d:.,/ TZ+|-]+\]? *)?` + speaker + `\[?(?:INFO|DEBUG|TRACE)\b|` +
		`^(?:\S+ )?(?:time="?\d\S*"? )?level="?(?i:info|debug|trace)\b|^(?:\d\d:?\d\d\S+ )?[IV]\d{4} \d\d:\d\d:\d\d|` +
		`^[\d:. -]{19,}: I \w+/|^\[[ID] \d{4}-|\[[IV]:onnxruntime\b|^N: |^debconf: |\bapparmor="(?:STATUS|ALLOWED)"|` +
		`^slurm(?:ctld|d|dbd): (?:debug\d?: |(?:[^ ef]|e[^r]|f[^a])\S*: \w+: |sched: |backfill: )`)
	// traced is what NCCL tells below a warning, failures among it.
	traced = lazy.Regexp(`\bNCCL (?:INFO|TRACE)\b`)
	// logged begins as a line of a log does: a time, a level, a process.
	logged = lazy.Regexp(`^(?:\W*[\d:., /TZ-]{8,}|[\w.-]+\[\d+\]: |\[\w+\]:|(?:\S+:\d+: )?\w+Warning: |(?:\([^()]+\) ?)?\[?(?:INFO|DEBUG|WARN|WARNING)\b)`)
	// warned is a line that its program calls a warning, in the same ways.
	warned = lazy.Regexp(`^(?:.*?\.py:\d+: )?` + before + `\W*(?:[\d:.,/ TZ-]+\W*)?` + speaker + `\[?(?:WARN(?:ING)?\b|(?:\S+: )?\w+Warning: |[Ww]arning: )|` +
		`^(?:\S+ )?time="?\d\S*"? level="?(?i:warn)|^W\d{4} \d\d:\d\d:\d\d|^[\d:. -]{19,}: W \w+/|` +
		`^(?:\[rank\d+\]: ?)?\[W\d* |^Setting [A-Z_]+ environment variable |^\S+\.py:\d+: [A-Z]\w* ['a-z]`)
	// mildly is how a warning says that it is none, or of what may only be.
	mildly = lazy.Regexp(`(?i)\boptional\b|\bif \w+ fails\b|\bignore (?:this|it)\b|` +
		`\b(?:can|may|might|could) (?:potentially |also )?(?:cause|lead to|result in|be a bottleneck)\b|` +
		`\bfor (?:the )?(?:better|optimal|best) performance\b|\bto avoid your system being\b|\bfalling back to (?:[^c]|c[^p])|^\[WARNING\]  \S`)
	// placed is where in a program a warning is raised, as Python writes it.
	placed = lazy.Regexp(`^.*?\.py:\d+: `)
)

// What stands before the level of a log's line: of the journal and of vllm, whose process it is;
// after the time, who speaks.
const (
	before  = `(?:\w{3} +\d+ [\d:]{8} \S+ \S+: )?(?:\([^()]{1,40}\) ?)?`
	speaker = `(?:\[?[\w.-]{1,40}(?: [\w.-]{1,20})?\]? *[:|-] ?)?`
)

// Warned reports whether a line is one that its program calls a warning.
func Warned(l string) bool { return warned().MatchString(l) }

// mild reports whether a line is a warning that asks for nothing yet.
func mild(l string) bool { return Warned(l) && mildly().MatchString(l) }

// Quiet reports whether a line is one of a log below a warning: what stands there is no fault.
func Quiet(l string) bool { return quiet().MatchString(l) || traced().MatchString(l) }

// supposes leads what may happen, or what is done so that it does not.
var supposes = lazy.Regexp(`(?i)\b(?:(?:would|could|might|may) (?:[a-gi-mo-z]|h[b-z]|n[a-np-z])\w*|can (?:lead|cause|result|fail|end|throw|raise|happen)|` +
	`(?:to|will|helps?) (?:avoid|prevent)|in case (?:of|you)|if (?:you|this|it) (?:see|get|encounter|fail|run)s?)\b(?:[^.:;,!?]|, which)*(?: ['"\x60][^'"\x60]*)?$`)

// supposed reports whether a line speaks of a message as of what may happen, within the
// sentence before it.
func supposed(l, message string) bool {
	at := strings.Index(l, message)
	return at > 0 && supposes().MatchString(l[:at])
}

// harmless reports whether a line is a program's and says of nothing that it is wrong.
func harmless(k *know.Knowledge, l string) bool { return logged().MatchString(l) && !troubled(k, l) }

// troubled reports whether a line says that something is wrong.
func troubled(k *know.Knowledge, l string) bool {
	return k.Reads("sets Subject.Trouble").MatchString(l)
}

// printed keeps a line that no message is known of and that a program prints when
// something is wrong, as the catalogue says, or the form of the sentence.
// test is the form, nil where the line has none.
func (r *Reader) printed(test *know.Test, l string, said Evidence) {
	c, k := r.c, r.k
	raised, level := raised().FindStringSubmatch(l), erred().FindStringSubmatch(l)
	row, found := rowOf(k, l, raised)
	p := Printed{At: said, Row: row, warned: Warned(l), Mild: mild(l) || strings.Contains(l, "install ")}
	p.classify(k, l, test, raised, level)
	if !found && p.Class == nil {
		return
	}
	if f := r.frame; f.speaks(said.Line, raised != nil) {
		if !f.of(p.Row.Program) {
			p.Row.Program, p.Row.Version, p.Row.Place = f.program, "", f.file // programs share sentences; this one raised it
		}
		p.Row.Shared = p.Row.Shared && f.program == ""
	}
	if level != nil {
		l = level[2] // what stands before it names nothing
	}
	if !p.Row.Code {
		p.Slots = k.Said(l, p.Slots)
	}
	if !slices.ContainsFunc(c.Printed, func(o Printed) bool { return o.At.Line == said.Line && o.Row.Text == row.Text }) {
		c.Printed = append(c.Printed, p)
	}
}

// classify gives a line its class: by the row of the catalogue, the form of the sentence, or the exception or level that leads it.
func (p *Printed) classify(k *know.Knowledge, l string, test *know.Test, raised, level []string) {
	switch {
	case p.Row.Text != "" || p.Row.Kind != "": // a row's
		p.Row.Loud = p.Row.Loud && !p.warned
		p.Class, p.Slots = k.ClassOf(p.Row, l)
	case test != nil && (raised == nil || !k.Classes[test.Class].Question):
		p.Class, p.Slots = k.Classes[test.Class], know.Slots(test.Re(), l)
	case raised != nil: // Python writes the kind of exception before what a program raises
		p.Row.Loud, p.Row.Kind = true, raised[2]+raised[3]
		if module, part, _ := strings.Cut(raised[1], "."); module != "" && !strings.HasSuffix(raised[2], "Error") {
			p.Row.Program, p.Row.Place = module, strings.ReplaceAll(part, ".", "/")
		}
		p.Class, p.Slots = k.ClassOf(p.Row, raised[4])
	case level != nil: // others name the level, and mostly themselves
		p.Row.Loud, p.Row.Program = true, level[1]
		p.Class, p.Slots = k.ClassOf(p.Row, level[2])
	}
}

// rowOf is the catalogue's row of a line, of which raised is the exception in it, nil none.
func rowOf(k *know.Knowledge, l string, raised []string) (know.Row, bool) {
	row, found := k.Printed.Find(l)
	switch {
	case found && strings.Contains(l, "[Errno "): // the system's own words, whoever prints them
		return know.Row{}, false
	case raised != nil && found && row.Kind != raised[2]+raised[3] && (row.Kind[0] != '-' && !row.Code || 5*len(row.Text) < 3*len(raised[4])):
		return know.Row{Origin: know.Origin{Loud: true, Kind: raised[2] + raised[3]}}, true // a phrase of many programs
	}
	return row, found
}

// A frame is the last file of a package in a traceback.
type frame struct {
	program, file string
	line          int
	said          bool // the line itself names it; false: a line of a traceback
	raises        bool // its statement raises: the program itself, and nothing that it called, says what comes
}

// inFrame is how many lines after its frame an exception stands.
const inFrame = 4

// framed is a line of a traceback after which it shows the statement.
var framed = lazy.Regexp(`^\s*File "[^"]+", line \d+, in \S`)

var (
	// frameLine names a package and its file, in a traceback or before a warning.
	frameLine = lazy.Regexp(`[/\\](?:site|dist)-packages[/\\](\w+)[/\\]([^":]+)(", line |:)\d+`)
	// loggerLine is how Python's logging names who speaks.
	loggerLine = lazy.Regexp(`^(?:WARNING|ERROR|CRITICAL):([a-z]\w*)\.([\w.]+):`)
)

// framed takes in a line of a traceback.
func (r *Reader) framed(l string) {
	if m := loggerLine().FindStringSubmatch(l); m != nil {
		r.frame = frame{program: m[1], file: strings.ReplaceAll(m[2], ".", "/"), line: r.line, said: true}
	}
	if !strings.Contains(l, "-packages") {
		r.frame.raises = r.frame.raises || r.line == r.frame.line+1 && r.line > 1 && strings.Contains(l, "  raise ")
		return
	}
	if m := frameLine().FindStringSubmatch(l); m != nil {
		r.frame = frame{program: m[1], file: m[2], line: r.line, said: m[3] == ":"}
	}
}

// speaks reports whether the frame's package says what stands in a line, which may end the traceback.
func (f frame) speaks(line int, ends bool) bool {
	return f.said && f.line == line || !f.said && ends && line-f.line <= inFrame
}

// of reports whether the frame is of a program, which may be called otherwise than its package.
func (f frame) of(program string) bool {
	program = strings.ReplaceAll(program, "-", "_")
	return f.program == "" || program != "" && (strings.Contains(f.program, program) || strings.Contains(program, f.program))
}

// raised is a line with which Python ends a traceback.
var raised = lazy.Regexp(`^\W*(?:((?:[a-z_]\w*\.)+)([A-Z]\w+)|([A-Z]\w*(?:Error|Exception)|Exception)): (.+)`)

// erred is a line that its program calls an error: who speaks, and what is said.
var erred = lazy.Regexp(`^` + before + `(?:time=\S+ )?(?:[\d:.,/ TZ+-]{8,} *)?(?:\[[\d:.T -]+\] ?)?(?:([a-z][\w.-]{1,30})(?:\[\d+\])?: )?` +
	`(?:\[?(?:ERROR|FATAL|CRITICAL|[Ee]rror|[Ff]atal(?: error)?)\]?(?::[\w.]+:|:? )|level="?(?:error|fatal)"? (?:\S+=\S+ )*msg=|E\d{4} [\d:.]+ +\d+ \S+\] ) *(.+)`)

// stale reports whether lines like this one, but for their numbers, were looked at
// as often as the limit. A log of hours repeats a few dozen.
func (r *Reader) stale(l []byte, limit int) bool {
	h := uint64(14695981039346656037)
	digits := false
	for i := range len(l) {
		c := l[i]
		if '0' <= c && c <= '9' {
			if digits {
				continue
			}
			digits, c = true, '0'
		} else if digits && ('a' <= c && c <= 'f' || c == '.') {
			continue // hexadecimal numbers and fractions
		} else {
			digits = false
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	n := r.seen[h]
	r.times = int(n)
	if int(n) >= limit {
		return true
	}
	if len(r.seen) < shapes {
		r.seen[h] = n + 1
	}
	return false
}

// exhausted reports whether so much of the text looked like messages that the rest is left
// out: one line of 10 MB that holds them all would take a minute. It says so once.
func exhausted(r *Reader) bool {
	if r.spent > budget && !r.full {
		r.full = true
		r.note(fmt.Sprintf("only its first %d KB were read, which look like messages from end to end: give the part "+
			"around the first error", r.read>>10))
	}
	return r.full
}

// already reports whether either line of a pair held a message of its own: then
// the pair says nothing more.
func already(hits []Hit, line int) bool {
	return slices.ContainsFunc(hits[max(0, len(hits)-3):], func(h Hit) bool { return h.At.Line >= line })
}

// heard is the same of lines that are known as a program's.
func (r *Reader) heard(line int) bool {
	return already(r.c.Hits, line) || slices.ContainsFunc(r.c.Printed, func(p Printed) bool { return p.At.Line >= line })
}

func (r *Reader) hit(n int, m []string, said Evidence) {
	t := &r.pass.Tests[n]
	r.count[t.Message]++
	r.c.Read++
	if r.count[t.Message] > maxHits {
		return
	}
	h := Hit{Message: r.k.Messages[t.Message], At: said, Mild: mild(r.whole)}
	if r.frame.speaks(said.Line, true) {
		h.Of = r.frame.program
	}
	for i, name := range t.Re().SubexpNames() {
		if name != "" && m[i] != "" {
			if h.Captures == nil {
				h.Captures = map[string]string{}
			}
			h.Captures[name] = m[i]
		}
	}
	r.c.Hits = append(r.c.Hits, h)
}
