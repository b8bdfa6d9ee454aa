package doctor

import (
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"envfix/internal/doctor/devices"
	"envfix/internal/doctor/evidence"
	"envfix/internal/doctor/files"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/messages"
	"envfix/internal/doctor/settings"
	"envfix/internal/doctor/unsaid"
	"envfix/internal/doctor/use"
)

// ofMachines are the rules of what only a machine itself tells, in rooms that look at text
// too.
var ofMachines = []string{"packages.notebooks", "evidence.AfterRows", "evidence.LastRows"}

// ruleName is a rule's function with its room: driver.unserved.
func ruleName(r evidence.Rule) string {
	at := reflect.ValueOf(r.Find).Pointer()
	if r.Find == nil {
		at = reflect.ValueOf(r.After).Pointer()
	}
	return path.Base(runtime.FuncForPC(at).Name())
}

// Every rule finds its sick machine and leaves the healthy one alone.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range slices.Concat(ruled, ruledMore) {
		seen[r.check] = true
		sick, _ := examine(t, r.sick)
		if got := checksOf(sick); !slices.Contains(got, r.check) {
			t.Errorf("%s: the sick machine gives %v", r.check, got)
		}
		healthy, _ := examine(t, r.healthy)
		for _, f := range healthy.Findings {
			if f.Check == r.check || f.Severity > know.Note && f.Confidence > Low {
				t.Errorf("%s: the healthy machine gives %s: %s %v", r.check, f.Check, f.Text, f.Evidence)
			}
		}
	}
	for _, r := range rooms {
		if slices.ContainsFunc(slices.Concat(use.Rules, files.Rules, settings.Rules, devices.Rules, messages.Rules, unsaid.Rules[:2]),
			func(m evidence.Rule) bool { return ruleName(m) == ruleName(r) }) || slices.Contains(ofMachines, ruleName(r)) {
			continue // TestMachines, TestUse, TestEnvironments, TestImported, TestRunning, TestAround, TestLive, TestUnread, TestEmptyContainer
		}
		for _, id := range r.Checks {
			if know.Embedded().Checks[id] == nil {
				t.Errorf("no check %s", id)
			}
		}
		if !slices.ContainsFunc(r.Checks, func(id string) bool { return seen[id] }) {
			t.Errorf("no sick machine for the rule of %v", r.Checks)
		}
	}
	for _, u := range uses { // TestUse
		seen[u.check] = true
	}
	for _, id := range []string{"ACC020", "DRV022", "DRV003", "CTR005", "MG003", "MG004", "MG005", "PY013", "PY014", "PY044", "MG002", "ACC014", "ACC024", "MG011", "GPU003", "GPU004", "LD005", "CTR008", "CTR012", "CTR013", "CTR017", "DRV002", "GPU002", "PY002", "PY027", "LD008", "PY022", "PY034"} { // TestRunning, TestLive, TestEmptyContainer, TestMessageChecks, TestAround, TestUnread
		seen[id] = true
	}
	for _, r := range know.Embedded().Rules {
		if r.Check != "" && !seen[r.Check] {
			t.Errorf("no sick machine for the row %s of %s", r.ID, r.Check)
		}
	}
}

// Every check is found by a message, a clue or a rule, or the README says why
// not.
func TestEveryCheckIsKnown(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, excused, _ := strings.Cut(string(readme), "## Not done")
	k := know.Embedded()
	reached := map[string]bool{}
	for _, m := range k.Messages {
		for _, id := range m.Checks {
			reached[id] = true
		}
	}
	for _, c := range k.Clues {
		for _, id := range c.Checks {
			reached[id] = true
		}
	}
	for _, r := range rooms {
		for _, id := range r.Checks {
			reached[id] = true
		}
	}
	for _, r := range k.Rules {
		reached[r.Check] = true
	}
	for _, id := range k.Order {
		if reached[id] == strings.Contains(excused, id) {
			t.Errorf("%s: found by something %v, and the README lists it as not done %v", id, reached[id],
				!reached[id] == false)
		}
	}
}
