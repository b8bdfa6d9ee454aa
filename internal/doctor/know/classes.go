package know

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"envfix/internal/lazy"
	"envfix/internal/modules"
	"envfix/internal/text"
)

// A Class is one kind of message: what it means, whoever prints it, and what to look at
// next. "{program}", "{place}" and the names of a form's groups stand in its text for what
// the line says.
type Class struct {
	ID       string
	Cause    string
	Text     string
	Says     []string // fuller than the text: the first of which the line fills every slot is told in its place
	Fix      []string
	Names    words    // of enumerations, without the library's prefix; a "*" at the end stands for the rest
	Forms    []string // expressions of a sentence that is known to be a program's message
	Alone    bool     // its forms say enough where nobody knows who prints the line
	Kinds    words    // of exception, where no form of this or an earlier class fits
	Soft     bool     // of warnings alone
	Hard     bool     // never of warnings
	Question bool     // what somebody asks, in words of their own
	Harmless bool     // its forms say that nothing is wrong, whatever else the line holds
	Foreign  bool     // of a program that torch has no part in
	Warns    bool     // its way out is told where it is a warning alone
	Where    string   // an expression of the program and the file, "!" before it: of others; "" any
	Needs    string   // what the line holds beside a form or a kind; "" nothing more
	None     string   // what it does not hold; "" nothing

	once               sync.Once
	forms              []*regexp.Regexp
	where, needs, none *regexp.Regexp // none: nil where it excludes nothing
}

// compile makes its expressions, when a message is first held against them.
func (c *Class) compile() {
	c.once.Do(func() {
		c.forms = append(c.forms, text.Each(c.Forms, func(f string) *regexp.Regexp { return regexp.MustCompile(expression(f)) })...)
		c.where, c.needs = regexp.MustCompile(expression(strings.TrimPrefix(c.Where, "!"))), regexp.MustCompile(expression(c.Needs))
		if c.None != "" {
			c.none = regexp.MustCompile(expression(c.None))
		}
	})
}

// allows reports whether a line holds what the class wants beside a form, and nothing that
// speaks against it.
func (c *Class) allows(line string) bool {
	return c.needs.MatchString(line) && (c.none == nil || !c.none.MatchString(line))
}

func (k *Knowledge) addClass(_ record, c *Class) error {
	c.Cause = cmp.Or(c.Cause, "none")
	if c.ID == "" || c.Text == "" || !k.cause(c.Cause) || slices.ContainsFunc(k.Classes, func(o *Class) bool { return o.ID == c.ID }) {
		return fmt.Errorf("%q is not a class, has no cause of the vocabulary, or is there twice", c.ID)
	}
	for _, f := range append(c.Forms, c.Where, c.Needs, c.None) {
		if _, err := regexp.Compile(expression(f)); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
	}
	k.Classes = append(k.Classes, c)
	return nil
}

// prefix is what the libraries write before a name of their enumerations.
var prefix = lazy.Regexp(`(?i)^(cudaError|CUDA_ERROR_|NVML_?ERROR_|NVRTC_ERROR_|nvjitlink_error_|cu(blas|dnn|solver|sparse|rand)_STATUS_|cufft_|nccl|ZE_RESULT_(EX[PT]_)?(ERROR_|WARNING_)?)`)

// ClassOf returns the kind of a message, and what its slots are: nil where none fits.
func (k *Knowledge) ClassOf(row Row, line string) (*Class, map[string]string) {
	if row.Code {
		c, _ := k.classOfCode(row.Text)
		return c, nil
	}
	from := row.Program + " " + row.Place
	for _, c := range k.Classes {
		c.compile()
		elsewhere := c.where.MatchString(from) == strings.HasPrefix(c.Where, "!")
		if c.Soft && row.Loud || c.Hard && !row.Loud || elsewhere || c.ID == anySentence || !c.allows(row.Kind+" "+line) {
			continue
		}
		for _, f := range c.forms {
			if slots := Slots(f, line); slots != nil && !strings.EqualFold(cmp.Or(slots["package"], "-"), row.Program) {
				return c, slots
			}
		}
		if slices.Contains(c.Kinds, row.Kind) || c.Where != "" && len(c.Forms)+len(c.Kinds) == 0 {
			return c, nil
		}
	}
	return nil, nil
}

// anySentence is the class whose forms read slots of every message, and say nothing of its kind.
const anySentence = "any-sentence"

// pronoun stands for what a sentence before it says, or is what is done and not what is
// named: it fills no slot.
var pronoun = lazy.Regexp(`(?i)^(this|that|it|they|which|these|those|there|what|you|we|if|when|because|since|as|while|and|or|but|not|no|given|set|(torch\.\w+|b?float\d\w*|u?int\d*|float|bool|str|list|tuple|dict|None\w*|True|False)$)\b|^\w+ed(\.|$)|[{}<>|;$]`)

// Said adds to the slots of a message those that any sentence may have. The first form that
// fills a slot counts.
func (k *Knowledge) Said(line string, slots map[string]string) map[string]string {
	all := map[string]string{}
	for _, c := range k.Classes {
		if c.ID != anySentence {
			continue
		}
		c.compile()
		for _, f := range slices.Backward(c.forms) {
			maps.Copy(all, Slots(f, line))
		}
	}
	maps.DeleteFunc(all, func(_, value string) bool { return pronoun().MatchString(value) || cutOff(value) })
	if strings.Contains(all["what"], all["set"]) {
		delete(all, "set") // it is what the line refuses
	}
	maps.Copy(all, slots)
	return all
}

// alone is one of several, of which a slot ended before the others.
var alone = lazy.Regexp(`(?i)^(one of|any of|between|either) .{1,20}$| but | to$`)

// cutOff reports whether a slot ended within what it names: in brackets, in quotes, in a list.
func cutOff(value string) bool {
	odd := func(pair string) bool { return strings.Count(value, pair[:1]) != strings.Count(value, pair[1:]) }
	return slices.ContainsFunc([]string{"()", "[]", "{}"}, odd) || strings.Count(value, "`")%2+strings.Count(value, `"`)%2 > 0 || alone().MatchString(value)
}

// classOfCode is the class that lists a name, and by which entry; the exact name before a
// beginning.
func (k *Knowledge) classOfCode(name string) (*Class, string) {
	whole := strings.ToLower(strings.ReplaceAll(prefix().ReplaceAllString(name, ""), "_", ""))
	library := strings.ToLower(prefix().FindString(name))
	for _, exact := range []bool{true, false} {
		for _, c := range k.Classes {
			for _, n := range c.Names {
				of, word := "", n
				if at := strings.IndexByte(n, ':'); at >= 0 {
					of, word = n[:at], n[at+1:]
				}
				head, open := strings.CutSuffix(word, "*")
				if strings.HasPrefix(library, of) && (word == whole && exact || open && !exact && strings.HasPrefix(whole, head)) {
					return c, c.ID + " " + n
				}
			}
		}
	}
	return nil, ""
}

// Slots matches a form; nil where it does not hold or calls a package what is none by its
// name, its writing, its quotes, a version or pip's command, else its named groups.
func Slots(form *regexp.Regexp, line string) map[string]string {
	m := form.FindStringSubmatchIndex(line)
	if m == nil {
		return nil
	}
	slots, named := map[string]string{}, strings.Contains(line[m[0]:m[1]], "pip")
	for i, name := range form.SubexpNames() {
		if from := m[2*i]; name != "" && m[2*i+1] > from {
			slots[name] = line[from:m[2*i+1]]
			named = named || name == "package" && from > 0 && strings.IndexByte("`'\"", line[from-1]) >= 0
		}
	}
	name, _, _ := strings.Cut(slots["package"], "[")
	if name != "" && len(slots) == 1 && !named && !modules.Known(name) && !strings.ContainsAny(name, "-_") || pronoun().MatchString(name) {
		return nil
	}
	return slots
}
