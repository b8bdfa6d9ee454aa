package ui

import (
	"strings"
	"testing"
)

// aPast is an environment that was there, replaced, failed on, replaced, gone back from
// and cleaned up.
func aPast() Past {
	return Past{Env: "/home/me/project/.venv", Logs: "/home/me/project/.envfix/logs", Back: "b-2",
		Rows: []PastRow{
			{When: "2026-11-01 09:00:00 UTC", Took: "1m42s", What: "apply", State: "done", Gen: "a-1", Note: "torch 2.11.0 cu128 with uv"},
			{When: "2026-11-03 10:00:00 UTC", What: "apply", State: "failed", Gen: "x-2", Note: "install torch==2.15.0: no space left on the device (at step torch)"},
			{When: "2026-11-03 11:00:00 UTC", Took: "2m3s", What: "apply", State: "done", Gen: "b-2", Note: "torch 2.15.0 cu132 with uv", Changes: []string{"torch 2.11.0+cu128 → 2.15.0", "torchaudio 2.11.0 is gone"}},
			{When: "2026-11-04 08:00:00 UTC", What: "rollback", State: "done", Gen: "a-1", Changes: []string{"torch 2.15.0 → 2.11.0+cu128"}},
			{When: "2026-11-05 08:00:00 UTC", What: "collect", State: "done", Gen: "adopted-1"},
			{When: "2026-11-06 08:00:00 UTC", What: "apply", State: "waiting", Gen: "c-3", Note: "fix_driver (at step reboot)"},
		},
		Envs: []PastEnvs{{Gen: "a-1", Holds: "torch 2.11.0+cu128, torchvision 0.26.0+cu128, Python 3.12", When: "2026-11-01 09:01:42 UTC", Proven: "2 GPUs computed", Current: true},
			{Gen: "b-2", Holds: "torch 2.15.0, torchvision 0.30.0, Python 3.12", When: "2026-11-03 11:02:03 UTC", Proven: "2 GPUs computed"}}}
}

// The page says what was done in words too, and takes text from outside for text.
func TestHistoryPage(t *testing.T) {
	p := aPast()
	p.Rows[0].Note = "</p><script>alert(1)</script>\x1b[31m"
	b, err := pastPage(p)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, want := range []string{"<li class=\"failed\"><p><strong>apply</strong> <b>failed</b> <code>x-2</code>", `<li class="done"><p><strong>rollback</strong>`,
		`<li class="collect"><p><strong>collect</strong>`, "torch 2.15.0 → 2.11.0&#43;cu128", "<b>in use</b>", "<code>envfix rollback b-2</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "\x1b", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if b, err := pastPage(Past{Env: ".venv"}); err != nil || !strings.Contains(string(b), "Nothing yet.") {
		t.Errorf("of nothing: %v\n%s", err, b)
	}
}
