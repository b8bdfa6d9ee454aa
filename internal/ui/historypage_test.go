package ui

import (
	"strings"
	"testing"

	"envfix/internal/apply"
)

// aPast is an environment that was there, replaced, failed on, replaced, gone back from
// and cleaned up.
func aPast() apply.History {
	return apply.History{Env: "/home/me/project/.venv", Logs: "/home/me/project/.envfix/logs", Current: "a-1",
		Events: []apply.Event{
			{Time: "2026-11-01T09:00:00Z", Ended: "2026-11-01T09:01:42Z", What: "apply", State: "done", Gen: "a-1", Note: "torch 2.11.0 cu128 with uv"},
			{Time: "2026-11-03T10:00:00Z", What: "apply", State: "failed", Gen: "x-2", Note: "install torch==2.15.0: no space left on the device", Step: "torch"},
			{Time: "2026-11-03T11:00:00Z", Ended: "2026-11-03T11:02:03Z", What: "apply", State: "done", Gen: "b-2", Note: "torch 2.15.0 cu132 with uv"},
			{Time: "2026-11-04T08:00:00Z", What: "rollback", State: "done", Gen: "a-1"},
			{Time: "2026-11-05T08:00:00Z", What: "collect", State: "done", Gen: "adopted-1"},
			{Time: "2026-11-06T08:00:00Z", What: "apply", State: "waiting", Gen: "c-3", Note: "fix_driver", Step: "reboot"},
		},
		Generations: []apply.Generation{
			{ID: "a-1", Created: "2026-11-01T09:01:42Z", Python: "3.12", Proved: &apply.Proved{GPUs: 2},
				Packages: map[string]string{"torch": "2.11.0+cu128", "torchvision": "0.26.0+cu128", "torchaudio": "2.11.0"}},
			{ID: "b-2", Created: "2026-11-03T11:02:03Z", Python: "3.12", Proved: &apply.Proved{GPUs: 2},
				Packages: map[string]string{"torch": "2.15.0", "torchvision": "0.30.0"}},
		}}
}

// The page says what was done in words too, and takes text from outside for text.
func TestHistoryPage(t *testing.T) {
	p := aPast()
	p.Events[0].Note = "</p><script>alert(1)</script>\x1b[31m"
	b, err := HistoryPage(p, "2026-11-07")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, want := range []string{"<li class=\"failed\"><p><strong>apply</strong> <b>failed</b> <code>x-2</code>", `<li class="done"><p><strong>rollback</strong>`,
		`<li class="collect"><p><strong>collect</strong>`, "torch 2.15.0 → 2.11.0&#43;cu128", "torchaudio 2.11.0 is gone", "no space left on the device (at step torch)</p>", "2 GPUs computed", ", 1m42s</span>", "<b>in use</b>", "<code>envfix rollback b-2</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "\x1b", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if b, err := HistoryPage(apply.History{Env: ".venv"}, "2026-11-07"); err != nil || !strings.Contains(string(b), "Nothing yet.") {
		t.Errorf("of nothing: %v\n%s", err, b)
	}
}
