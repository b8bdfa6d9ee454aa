package installers

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/managers"
	"envfix/internal/plan"
	"envfix/resolver"

	"github.com/google/go-cmp/cmp"
)

// Every call that may use the network says how long it waits and how often it
// tries again, in the plan: pip by its arguments, for --isolated makes it deaf to
// variables, the others by variables.
func TestCallsSayTheirPatience(t *testing.T) {
	for manager, want := range map[string]map[string]string{
		"uv":         {"UV_NO_CONFIG": "1", "UV_HTTP_TIMEOUT": "60", "UV_HTTP_RETRIES": "3"},
		"pip":        {"PIP_CONFIG_FILE": "/dev/null"},
		"conda":      {"CONDA_REMOTE_READ_TIMEOUT_SECS": "60", "CONDA_REMOTE_MAX_RETRIES": "3"},
		"micromamba": {"MAMBA_REMOTE_MAX_RETRIES": "3"},
	} {
		h, c := v100(), choice()
		if manager == "conda" || manager == "micromamba" {
			c.Channel = managers.CondaForge
		}
		p := must(t, h, resolver.Request{Described: true}, install(c), plan.Target{Manager: manager})
		calls := 0
		for _, s := range p.Steps {
			if s.ID != "torch" && s.ID != "conda" {
				continue
			}
			calls++
			if manager == "pip" && !strings.Contains(strings.Join(s.Run.Argv, " "), " --retries 3 --timeout 60 ") {
				t.Errorf("pip: %q", s.Run.Argv)
			}
			got := map[string]string{}
			for k := range want {
				got[k] = s.Run.Env[k]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", manager, diff)
			}
		}
		if calls != 1 {
			t.Errorf("%s: %d calls, want 1", manager, calls)
		}
	}
}

// The bundle of certificates that is named for one tool serves all: pip does not
// read uv's variable, uv none of pip's.
func TestCertificatesServeEveryTool(t *testing.T) {
	for _, name := range []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"} {
		for manager, reads := range map[string]string{"uv": "SSL_CERT_FILE", "pip": "REQUESTS_CA_BUNDLE"} {
			h := v100()
			h.Env[name] = "/etc/company.pem"
			p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Manager: manager})
			if i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "torch" }); p.Steps[i].Run.Env[reads] != "/etc/company.pem" {
				t.Errorf("%s with %s: %v", manager, name, p.Steps[i].Run.Env)
			}
		}
	}
	h := v100()
	h.Env["SSL_CERT_FILE"], h.Env["PIP_CERT"], h.Env["UV_SYSTEM_CERTS"] = "/uv.pem", "/pip.pem", "1"
	for manager, want := range map[string][]string{"uv": {"/uv.pem", "1"}, "pip": {"", ""}} {
		p := must(t, h, resolver.Request{}, install(choice()), plan.Target{Manager: manager})
		i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == "torch" })
		env := p.Steps[i].Run.Env
		if manager == "pip" && env["REQUESTS_CA_BUNDLE"] != "/pip.pem" {
			t.Errorf("pip: %v", env)
		}
		if manager == "uv" && (env["SSL_CERT_FILE"] != want[0] || env["UV_SYSTEM_CERTS"] != want[1]) {
			t.Errorf("uv: %v", env)
		}
	}
}

// pip has no store that serves without a network: the plan says what it cannot.
func TestOfflinePip(t *testing.T) {
	p := must(t, v100(), resolver.Request{}, install(choice()), plan.Target{Manager: "pip", Offline: true})
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "pip") {
		t.Errorf("warnings: %q", p.Warnings)
	}
	p = must(t, v100(), resolver.Request{}, install(choice()), plan.Target{Manager: "uv", Offline: true})
	if strings.Contains(strings.Join(p.Warnings, "\n"), "pip") {
		t.Errorf("warnings with uv: %q", p.Warnings)
	}
}
