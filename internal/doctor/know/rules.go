package know

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Rule is one thing to look at that needs no code: where its conditions hold, its check is
// found. Each condition is a list of alternatives.
type Rule struct {
	ID       string
	Check    string // "" it only takes back what others found
	After    bool   // it is asked after the rules that look at facts alone
	Anew     bool   // it says what others found of its check in other words
	Each     string // a list, of each item of which it is asked; ".Name" is a field of that
	First    bool   // of the first item alone of which it holds
	Proof    string // as package evidence reads it: "likely", "strong exact"
	At       [][]*Term
	If       [][]*Term // as At, and no evidence of it
	Deny     []string  // checks that it takes back; "*" all
	Cause    string
	Text     string // "" that of the check; {Torch.Version} stands for a fact
	Fix      []string
	Places   map[string][]string
	Severity *Severity
}

// ofRule are the keys of a rule.
const ofRule = "id check proof after anew each first at if deny cause text fix severity"

// A Term asks for one fact, by its name or its field.
type Term struct {
	Not, Maybe bool // it must not be so; it need not be so
	Fact       string
	Of         []string // what it is asked of: the ids of messages
	Op         string   // "=" one of the words of Value, "~" its expression, "" anything
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
		t.once.Do(func() { t.re = regexp.MustCompile(t.Value) })
		return t.re.MatchString(text)
	}
	return true
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
			for _, op := range []string{" = ", " ~ "} {
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

func (k *Knowledge) addRule(r record) (err error) {
	rule := &Rule{ID: r.one("id"), Check: r.one("check"), Proof: r.one("proof"), Each: r.one("each"), First: r.one("first") == "true",
		After: r.one("after") == "true", Anew: r.one("anew") == "true", Deny: r.keys["deny"],
		Cause: r.one("cause"), Text: r.one("text"), Fix: r.keys["fix"], Places: r.places()}
	if s := r.one("severity"); s != "" {
		rule.Severity = new(Severity)
		if !rule.Severity.parse(s) {
			return fmt.Errorf("%q is no severity", s)
		}
	}
	for _, id := range slices.Concat(rule.Deny, []string{cmp.Or(rule.Check, "*")}) {
		if k.Checks[id] == nil && id != "*" {
			return fmt.Errorf("no check %s", id)
		}
	}
	var bad error
	rule.At, bad = termsOf(r.keys["at"])
	if rule.If, err = termsOf(r.keys["if"]); cmp.Or(bad, err) != nil {
		return cmp.Or(bad, err)
	}
	told := rule.Check == "" && len(rule.Deny) > 0 || rule.Check != "" && (rule.Anew || len(rule.At) > 0)
	if rule.ID == "" || !told || rule.Cause != "" && !k.cause(rule.Cause) {
		return fmt.Errorf("%q is not a rule: it has no id, no check, no evidence, or no cause of the vocabulary", rule.ID)
	}
	k.Rules = append(k.Rules, rule)
	return nil
}
