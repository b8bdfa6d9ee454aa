package doctor

import (
	"os"
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

// ofMachines are what rules need that only a machine itself tells, in rooms that look at
// text too.
var ofMachines = []string{
	"a GPU on the bus that no driver serves", "a driver whose kernel module is not loaded", "a GPU and no torch",
	"what the CDI descriptions name, and what is there", "the Pythons that Jupyter starts, and the environment",
}

// Every rule finds its sick machine and leaves the healthy one alone.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range ruled {
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
			func(m evidence.Rule) bool { return m.Needs == r.Needs }) || slices.Contains(ofMachines, r.Needs) {
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
	for _, id := range k.Order {
		if reached[id] == strings.Contains(excused, id) {
			t.Errorf("%s: found by something %v, and the README lists it as not done %v", id, reached[id],
				!reached[id] == false)
		}
	}
}
