package verdict

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A ruleCase edits the job and says what is found.
type ruleCase struct {
	name  string
	edit  func(*Trace)
	want  string   // verdict, then others
	words []string // in the text or a fix
}

func TestRules(t *testing.T) {
	for _, tt := range slices.Concat(onGPU, elsewhere) {
		t.Run(tt.name, func(t *testing.T) {
			tr := job()
			tt.edit(tr)
			r := Judge(tr)
			got := []string{r.Verdict}
			text := r.Text + "\n" + strings.Join(r.Fix, "\n")
			for _, o := range r.Others {
				got = append(got, o.Verdict)
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s%s", diff, text)
			}
			for _, w := range tt.words {
				if !strings.Contains(text, w) {
					t.Errorf("%q is not in\n%s", w, text)
				}
			}
			if strings.ContainsAny(text, "\x1b\r") || strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
				t.Errorf("bad text: %q", text)
			}
			data, err := json.Marshal(tr)
			if err != nil {
				t.Fatal(err)
			}
			var again Trace
			if err := json.Unmarshal(data, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(marshal(t, r), marshal(t, Judge(&again))); diff != "" {
				t.Errorf("judged again from its JSON: %s", diff)
			}
		})
	}
}

// TestShortBatches: a batch that takes no longer than its way from a worker gets none; where
// others have the processors, both take as much longer.
func TestShortBatches(t *testing.T) {
	for wait, want := range map[[2]float64]bool{{0.001, 0}: false, {0.01, 0}: true, {0.01, 90}: false} {
		each, delay := wait[0], wait[1]
		tr := job()
		onCPU(tr)
		p := &lead(tr).Page
		tr.Processes[0].LoopWall, tr.Processes[0].Delay = 100, delay
		p.Load, p.LoadCPU, p.LoadSeen = each*float64(p.Warm), 0.9, 1
		p.Step = 2 * p.Load
		lead(tr).Loaders = []Loader{{Where: "t.py:4"}}
		r := Judge(tr)
		fix := strings.Join(r.Fix, "\n")
		if workers := strings.Contains(fix, "num_workers="); r.Verdict != LoaderBound || workers != want || workers != (r.Gain != nil) || workers == strings.Contains(fix, "BatchSampler") {
			t.Errorf("%v s a batch: %s %v\n%s", each, r.Verdict, r.Gain, fix)
		}
	}
}

// TestPromises: what is gained is told where the looks are enough for it, and the loop
// had the processors.
func TestPromises(t *testing.T) {
	for want, edit := range map[bool]func(*Trace){
		true:  func(t *Trace) {},
		false: func(t *Trace) { t.Processes[0].Delay = 60 },
	} {
		tr := job()
		onCPU(tr)
		looked(tr, "saving", 0.6)
		edit(tr)
		if r := Judge(tr); r.Verdict != CheckpointBound || (r.Gain != nil) != want {
			t.Errorf("%v: %+v", want, r.Finding)
		}
	}
	tr := job()
	onCPU(tr)
	looked(tr, "saving", 0.9)
	if lead(tr).Where.Count = 30; Judge(tr).Gain != nil {
		t.Error("30 looks promise six times the speed")
	}
	tr = job()
	onCPU(tr)
	looked(tr, "metrics", 0.35)
	lead(tr).Where.Parts["forward"], lead(tr).Where.Parts["evaluation"] = 350000, 300000
	if g := Judge(tr).Gain; g != nil {
		t.Errorf("metrics less often may be as much less evaluation: %v", g)
	}
	tr = job()
	onCPU(tr)
	looked(tr, "data", 0.98)
	if g := Judge(tr).Gain; g != nil {
		t.Errorf("what is left of the loop is within the error of the looks: %v", g)
	}
}

// TestCrowdedLoader: where others had the processors, a loader's gain is not promised.
func TestCrowdedLoader(t *testing.T) {
	for delay, promised := range map[float64]bool{0: true, 60: false} {
		tr := job()
		onCPU(tr)
		lead(tr).Page.Load, lead(tr).Page.LoadCPU, lead(tr).Page.LoadSeen = 80, 0.1, 1
		lead(tr).Loaders = []Loader{{Where: "t.py:4", Source: "DataLoader(ds)"}}
		tr.Processes[0].LoopWall, tr.Processes[0].Delay = 100, delay
		r := Judge(tr)
		if r.Verdict != LoaderBound || (r.Gain != nil) != promised || len(r.Fix) == 0 || !strings.Contains(strings.Join(r.Fix, " "), "num_workers=") {
			t.Errorf("%.0f: %+v", delay, r.Finding)
		}
	}
}

func marshal(t *testing.T, r Report) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRewrite(t *testing.T) {
	l := Loader{Where: "/venv/lib/python3.12/site-packages/transformers/trainer.py:9", Source: "return DataLoader(ds)"}
	if diff := cmp.Diff([]string{"DataLoader(…, num_workers=4)"}, rewrite(l, [2]string{"num_workers", "4"})); diff != "" {
		t.Errorf("a library's line: %s", diff)
	}
	tests := []struct{ in, want string }{
		{"ld = DataLoader(ds)", "ld = DataLoader(ds, num_workers=4)"},
		{"ld = DataLoader(ds, num_workers=0, shuffle=True)", "ld = DataLoader(ds, num_workers=4, shuffle=True)"},
		{"ld = DataLoader(f(a, num_workers=0), 8,)", "ld = DataLoader(f(a, num_workers=0), 8, num_workers=4)"},
		{"for x in torch.utils.data.DataLoader(ds, 8): pass", "for x in torch.utils.data.DataLoader(ds, 8, num_workers=4): pass"},
		{"ld = DataLoader(ds,", ""},
		{"ld = DataLoader(ds, **kw)", ""},
		{"ld = DataLoader(ds, sampler=d[')'])", ""},
		{"ld = make()", ""},
		{"a, b = DataLoader(x), DataLoader(y)", ""},
	}
	for _, tt := range tests {
		got := rewrite(Loader{Where: "t.py:1", Source: tt.in}, [2]string{"num_workers", "4"})
		want := []string{"DataLoader(…, num_workers=4)"}
		if tt.want != "" {
			want = append(want, "t.py:1\n- "+tt.in+"\n+ "+tt.want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
}

// TestAsksDoctor: of a job that no GPU was seen for, doctor is asked where it is
// PyTorch's, or may have ended for want of it.
func TestAsksDoctor(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Trace)
		want bool
	}{
		{"a job with torch", func(*Trace) {}, true},
		{"torch was mapped, the probe is not in it", func(t *Trace) { t.Processes[0].Probe = nil }, true},
		{"another library's", func(t *Trace) { t.Processes[0].Probe, t.Processes[0].Torch = nil, "" }, false},
		{"a program that was gone at once", func(t *Trace) { t.Processes = nil }, false},
		{"ended with an error before torch", func(t *Trace) { t.Exit, t.Processes[0].Probe, t.Processes[0].Torch = 1, nil, "" }, true},
		{"ended by a signal before torch", func(t *Trace) {
			t.Signal, t.Exit, t.Processes[0].Probe, t.Processes[0].Torch = "SEGV", 139, nil, ""
		}, false},
		{"a job with a GPU", func(t *Trace) { t.GPUs = job().GPUs }, false},
	} {
		trace := job()
		onCPU(trace)
		c.set(trace)
		if got := trace.AsksDoctor(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRespawnGain: what most of the run goes into leaves too little to tell a gain by.
func TestRespawnGain(t *testing.T) {
	for share, want := range map[float64]bool{0.3: true, 0.86: false} {
		tr := job()
		onCPU(tr)
		p := lead(tr)
		p.Loaders, p.Page.Epochs = []Loader{{Workers: 2, Where: "t.py:4"}}, 12
		p.Page.Edge = share * (p.Page.LastAt - (p.Page.WarmAt - p.Page.First))
		if r := Judge(tr); r.Verdict != WorkerRespawn || (r.Gain != nil) != want {
			t.Errorf("%v: %s %v", share, r.Verdict, r.Gain)
		}
	}
}
