package fleet

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"envfix/internal/lock"
)

func lockOfOne() *lock.Lock {
	return &lock.Lock{Profiles: []lock.Profile{{Name: "cu126", Torch: "2.14.1+cu126", Build: "cu126", Python: "3.12",
		Match: lock.Match{OS: "linux", Arch: "x86_64", GPU: "nvidia", SMs: []string{"7.0"}, Driver: ">=525.60.13"}}}}
}

// verified is what `envfix verify --static --json` prints on a host.
func verified(name, ok, torch, wrong, driver string) string {
	return `{"format":1,"ok":` + ok + `,"torch":"` + torch + `","gpus":4,"wrong":[` + wrong + `],"host":"` + name + `","class":` +
		string(host("Tesla V100-SXM2-16GB", "7.0", driver, "2.35", "3.12").ClassLine()) + "}\n"
}

func TestReport(t *testing.T) {
	text := verified("right", "true", "2.14.1+cu126", "", "580.95.05") +
		verified("label", "true", "2.14.1+cu130", "", "580.95.05") + // another build of the same torch
		verified("old", "true", "2.9.1+cu126", "", "580.95.05") +
		verified("driver", "true", "2.14.1+cu126", "", "470.82.01") +
		verified("gone", "false", "2.14.1+cu126", `"3 of 4 GPUs can be used"`, "580.95.05") +
		`{"host":"dead","error":"connect: timed out"}` + "\n" +
		`{"host":"again","apply":{"format":1,"state":"waiting_for_reboot","changed":true,"error":{"code":7,"text":"the rest comes after a reboot"}}}` + "\n" +
		`{"host":"todo","plan":{"format":1,"decision":"install","steps":[{},{}]}}` + "\n" +
		`{"host":"drift","check":{"format":1,"profile":"cu126","differs":["numpy 1.0, the lock has 2.0"]}}` + "\n" +
		`{"host":"quiet","facts":` + string(host("Tesla V100-SXM2-16GB", "7.0", "580.95.05", "2.35", "3.12").ClassLine()) + "}\n" +
		`{"host":"done","plan":{"format":1,"decision":"install","steps":[{}]},"apply":{"format":1,"state":"applied","changed":true}}`
	want := map[string]Status{"right": Right, "label": Drifted, "old": Drifted, "driver": Drifted, "gone": Wrong, "dead": Failed, "again": Reboot,
		"todo": Pending, "drift": Drifted, "quiet": Unknown, "done": Right}
	r := NewResults()
	if err := r.Read(strings.NewReader(text), "results", ""); err != nil {
		t.Fatal(err)
	}
	got := r.Report(lockOfOne(), "")
	for _, h := range got.Hosts {
		if h.Status != want[h.Host] {
			t.Errorf("%s is %s, want %s: %v", h.Host, h.Status, want[h.Host], h.Why)
		}
		if h.Status != Right && h.Status != Unknown && len(h.Why) == 0 {
			t.Errorf("%s is %s and nobody knows why", h.Host, h.Status)
		}
	}
	sum := 0
	for _, c := range got.Classes {
		sum += c.size()
	}
	if got.Machines != len(want) || sum != len(want) || got.Count[Right] != 2 {
		t.Errorf("%d machines, %d in classes, %v", got.Machines, sum, got.Count)
	}
	if c := got.Classes[slices.IndexFunc(got.Classes, func(c ClassReport) bool { return c.Profile == "cu126" })]; !reflect.DeepEqual(c.Hosts[Right], []string{"right"}) {
		t.Errorf("%+v", c)
	}
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(l))
	}
	slices.Reverse(lines)
	other := NewResults()
	if err := other.Read(strings.NewReader("["+strings.Join(lines, ",")+"]"), "results", ""); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, other.Report(lockOfOne(), "")) {
		t.Error("the order of the input, or a list, changes the report")
	}
}

func TestReportGrowsStale(t *testing.T) {
	r := NewResults()
	text := strings.Replace(verified("n1", "true", "2.14.1+cu126", "", "580.95.05"), `{"format"`, `{"at":"2026-11-01T00:00:00Z","format"`, 1)
	if err := r.Read(strings.NewReader(text), "results", ""); err != nil {
		t.Fatal(err)
	}
	if h := r.Report(nil, "2026-10-31T00:00:00Z").Hosts[0]; h.Status != Right {
		t.Errorf("%+v", h)
	}
	if h := r.Report(nil, "2026-11-02T00:00:00Z").Hosts[0]; h.Status != Unknown || !strings.Contains(h.Why[0], "too old") {
		t.Errorf("%+v", h)
	}
}

func TestBadResults(t *testing.T) {
	for _, text := range []string{"", "rubbish", "{}", `{"host":"a"}`, `{"ok":true}`, `[1]`, `{"host":"a","plan":7}`, `{"host":1,"ok":true}`} {
		r := NewResults()
		if err := r.Read(strings.NewReader(text), "results", ""); err == nil && r.Report(nil, "").Count[Failed] == 0 {
			t.Errorf("%q is taken: %+v", text, r.Report(nil, ""))
		}
	}
}

func TestStaleFacts(t *testing.T) {
	h := string(host("Tesla T4", "7.5", "535.183.01", "2.35", "3.12").ClassLine()[1:])
	in := New()
	in.Oldest = "2026-11-01T00:00:00Z"
	text := `{"host":"new","at":"2026-11-20T00:00:00Z",` + h + "\n" + `{"host":"old","at":"2026-10-20T00:00:00Z",` + h + "\n" +
		`{"at":"2026-10-20T00:00:00Z","host":"old2",` + h + "\n" + `{"host":"odd","at":"yesterday",` + h + "\n" + `{"host":"none",` + h + "\n"
	if err := in.ReadLines(strings.NewReader(text), "facts"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if len(in.Classes) != 1 || !slices.Equal(in.Classes[0].Hosts, []string{"new", "none"}) || len(in.Problems) != 3 {
		t.Errorf("%+v %+v", in.Classes, in.Problems)
	}
	in = New() // without a bound every age is taken
	if err := in.ReadLines(strings.NewReader(text), "facts"); err != nil {
		t.Fatal(err)
	}
	if in.Close(); len(in.Classes[0].Hosts) != 5 {
		t.Errorf("%+v %+v", in.Classes, in.Problems)
	}
}
