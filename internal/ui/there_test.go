package ui

import (
	"strings"
	"testing"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/resolver"
)

// The plan of a described machine names no file of this one, nor what this one's environment
// gives; what it says is true of both; the plan itself stays as it is.
func TestThere(t *testing.T) {
	p := &plan.Plan{Steps: []plan.Step{{ID: "venv", Title: "make it", Run: &plan.Run{
		Argv: []string{"/opt/uv/uv", "venv", "--python", "/opt/pyenv/3.13.0/bin/python3", "{gen}"},
		Env:  map[string]string{"SSL_CERT_FILE": "/etc/mine.pem", "UV_NO_CONFIG": "1"}}}}}
	p.Basis.Facts.Tools = []machine.Tool{{Name: "uv", Path: "/opt/uv/uv"}}
	p.Basis.Facts.Pythons = []machine.Python{{Path: "/opt/pyenv/3.13.0/bin/python3", Version: "3.13.0"}}
	p.Decision, p.Reasons = resolver.Install, []resolver.Reason{{Rule: "driver-floor", Text: "needs driver 580 or newer; there is 550"}}
	for _, described := range []bool{false, true} {
		p.Basis.Request.Described = described
		text := Plan(There(p), Style{Verbose: true})
		for _, own := range []string{"/opt/", "/etc/mine.pem"} {
			if strings.Contains(text, own) == described {
				t.Errorf("described: %v, %q:\n%s", described, own, text)
			}
		}
		if described != strings.Contains(text, "UV_NO_CONFIG=1 uv venv --python python3.13 \"$gen\"") || strings.Contains(text, "this machine") || !strings.Contains(text, "there is 550") {
			t.Errorf("described: %v\n%s", described, text)
		}
	}
	if p.Steps[0].Run.Argv[0] != "/opt/uv/uv" || p.Steps[0].Run.Env["SSL_CERT_FILE"] == "" {
		t.Error("the plan was changed")
	}
}
