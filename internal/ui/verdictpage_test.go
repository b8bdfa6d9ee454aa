package ui

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"envfix/internal/observe/verdict"

	"github.com/google/go-cmp/cmp"
)

// The page says in words what the verdict's id means, shows commands as such and a
// change of the code in its shape, and takes text from outside for text.
func TestVerdictPage(t *testing.T) {
	hostile := "</pre><script>alert(1)</script>\x1b[31m"
	r := verdict.Report{Finding: verdict.Finding{Verdict: verdict.LoaderBound, Confidence: "high", Text: hostile,
		Fix:  []string{"`envfix doctor` looks further", "train.py:4\n- DataLoader(ds)\n+ DataLoader(ds, num_workers=4)\n" + hostile},
		Gain: map[string][2]float64{"steps_per_s": {22.213, 330.4}}}}
	b, err := VerdictPage(&verdict.Trace{Command: []string{"python", hostile}, Seconds: 27}, r)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, want := range []string{"<h1>the loop waits for its data <span class=\"soft\">loader_bound, high confidence<", "<li><code>envfix doctor</code> looks further</li>", "<pre>&#43; DataLoader(ds, num_workers=4)</pre>", "22.2 → 330 steps a second at best", "27 s; a gap"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "\x1b", "http://", "https://", "steps_per_s", "<h2>Processes"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

// A loop without a DataLoader has no wait for one to draw, and its input is a part of
// what comes before the backward pass.
func TestVerdictPageOwnInput(t *testing.T) {
	load := 0.3
	for _, loader := range []bool{false, true} {
		tr := &verdict.Trace{Seconds: 9, Frames: []verdict.Frame{{Span: 9, Steps: 4}}, Processes: []verdict.Process{{Probe: &verdict.Probe{}}}}
		idle := 0.8
		r := verdict.Report{GPUs: []verdict.GPUReport{{IdleShare: &idle}},
			Processes: []verdict.ProcessReport{{Looks: 300, Parts: []verdict.Part{{Name: "data", Seconds: 0.1}, {Name: "backward", Seconds: 0.1}}}}}
		if loader {
			tr.Processes[0].Probe.Page.Batches, r.Processes[0].Load = 4, &load
		}
		b, err := VerdictPage(tr, r)
		if err != nil {
			t.Fatal(err)
		}
		if page := string(b); strings.Contains(page, "waiting for data") != loader || !strings.Contains(page, "80 %") {
			t.Errorf("loader %v:\n%s", loader, page)
		}
		if text := Verdict(r, 0, Style{}); !strings.Contains(text, "by 300 looks at the loop: input 50 %") {
			t.Errorf("loader %v:\n%s", loader, text)
		}
	}
}

// Every verdict that there is has its words, and each once.
func TestVerdictNames(t *testing.T) {
	source, err := os.ReadFile("../observe/verdict/judge.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(source), "// The verdicts.")
	block, _, _ = strings.Cut(block, "\n)")
	var want, have []string
	for _, m := range regexp.MustCompile(`= "(\w+)"`).FindAllStringSubmatch(block, -1) {
		want = append(want, m[1])
	}
	for _, n := range verdictNames() {
		have = append(have, n[0])
	}
	slices.Sort(want)
	slices.Sort(have)
	if d := cmp.Diff(want, have); d != "" || len(want) == 0 {
		t.Errorf("(-there +named)\n%s", d)
	}
}
