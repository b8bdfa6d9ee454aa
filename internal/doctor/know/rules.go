package know

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"envfix/internal/version"
)

// A Rule is one thing to look at that needs no code: where its conditions hold, its check is
// found. Each condition is a list of alternatives.
type Rule struct {
	ID       string
	Check    string // "" it only takes back what others found
	After    string // "others": it is asked after the rules that look at facts alone, "notes", "all": each after those before; "links": of each item the first of these alone
	Anew     bool   // it says what others found of its check in other words
	Each     string // a list, of each item of which it is asked; ".Name" is a field of that
	First    bool   // of the first item alone of which it holds
	Proof    string // as package evidence reads it: "likely", "strong exact"
	Sure     bool   // it is so, though it may not be what the matter is about
	At       [][]*Term
	If       [][]*Term           // as At, and no evidence of it
	Deny     []string            // checks that it takes back; "*" all
	Over     []Saying            `key:"explains"` // checks that it is the reason of, whatever their cause: all that hold
	Cause    []Saying            // the first that holds; none: that of the check, as of the other words
	Text     []Saying            // the first that holds
	Fix      []Saying            // all that hold
	Severity []Saying            // the first that holds
	Places   map[string][]string `key:"fix-"`
	Unset    string              // a variable that is to be taken out where it is set
	Frame    []Saying            // the first that holds: the Python that is put back into the environment, whose packages stay
	Rebuild  string              // a file that an environment built anew has as it should be
	Away     bool                // the item, a library, is taken out of what puts it before another
}

// A Saying is what a rule says where its conditions hold: "[Torch.HIP; not host] the text", in
// which {Torch.Version} stands for a fact.
type Saying struct {
	If   [][]*Term
	Text string
}

// A Term asks for one fact, by its name or its field.
type Term struct {
	Not, Maybe bool // it must not be so; it need not be so
	Fact       string
	Of         []string // what it is asked of: the ids of messages
	Op         string   // "=" one of the words of Value, "~" its expression, "has" its text, "<" a lesser number, or version, that is known, "" anything
	Value      string

	once sync.Once
	re   *regexp.Regexp
}

// Admits reports whether a fact's text is what the term asks for; value is its own, filled.
func (t *Term) Admits(text, value string) bool {
	switch t.Op {
	case "=":
		return slices.Contains(strings.Fields(value), text)
	case "~":
		return t.expression().MatchString(text)
	case "has":
		return value != "" && strings.Contains(text, value)
	case "<":
		have, err := version.ParseDotted(text)
		return err == nil && have.Less(version.ReadDotted(value))
	}
	return true
}

// Groups are the parts that its expression captures of a text, behind the whole; nil: it has
// none.
func (t *Term) Groups(text string) []string {
	if t.Op != "~" || t.expression().NumSubexp() == 0 {
		return nil
	}
	return t.expression().FindStringSubmatch(text)
}

func (t *Term) expression() *regexp.Regexp {
	t.once.Do(func() { t.re = regexp.MustCompile(t.Value) })
	return t.re
}

// termsOf reads conditions: "not Torch.HIP", "maybe From.OS", "Did.CondaCUDA ~ cudatoolkit",
// "Machine.Platform.OS = windows macos or message mps-macos", `"a text of its own"`.
func termsOf(conditions []string) (all [][]*Term, err error) {
	for _, c := range conditions {
		var alternatives []*Term
		if strings.HasPrefix(c, `"`) {
			all = append(all, []*Term{{Fact: c}})
			continue
		}
		for s := range strings.SplitSeq(c, " or ") {
			t := &Term{}
			s, t.Not = strings.CutPrefix(s, "not ")
			s, t.Maybe = strings.CutPrefix(s, "maybe ")
			for _, op := range []string{" = ", " ~ ", " < ", " has "} {
				if fact, value, ok := strings.Cut(s, op); ok {
					s, t.Op, t.Value = fact, strings.TrimSpace(op), value
				}
			}
			words := strings.Fields(s)
			t.Fact, t.Of = words[0], words[1:]
			if t.Op == "~" {
				_, bad := regexp.Compile(t.Value)
				err = cmp.Or(err, bad)
			}
			alternatives = append(alternatives, t)
		}
		all = append(all, alternatives)
	}
	return all, err
}

// sayingsOf reads what is said under conditions.
func sayingsOf(values []string) (all []Saying, err error) {
	for _, s := range values {
		said := Saying{Text: s}
		if conditions, text, ok := strings.Cut(s, "] "); ok && s[0] == '[' {
			var bad error
			said.Text = text
			said.If, bad = termsOf(strings.Split(conditions[1:], "; "))
			err = cmp.Or(err, bad)
		}
		all = append(all, said)
	}
	return all, err
}

func (k *Knowledge) addRule(_ record, rule *Rule) error {
	for _, s := range rule.Severity {
		if !new(Severity).Parse(s.Text) {
			return fmt.Errorf("%q is no severity", s.Text)
		}
	}
	for _, id := range slices.Concat(rule.Deny, []string{cmp.Or(rule.Check, "*")}) {
		if k.Checks[id] == nil && id != "*" {
			return fmt.Errorf("no check %s", id)
		}
	}
	told := rule.Check == "" && (len(rule.Deny) > 0 || rule.After == "links") || rule.Check != "" && (rule.Anew || len(rule.At)+len(rule.If) > 0)
	foreign := slices.ContainsFunc(rule.Cause, func(s Saying) bool { return !k.cause(s.Text) })
	if asked := slices.Contains([]string{"", "links", "others", "notes", "all"}, rule.After); rule.ID == "" || !told || !asked || foreign {
		return fmt.Errorf("%q is not a rule: it has no id, no check, no condition, or no cause or `after` of the vocabulary", rule.ID)
	}
	k.Rules = append(k.Rules, rule)
	return nil
}
