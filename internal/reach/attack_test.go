package reach

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Attacks on the gate to the network: ways to have a request, or a login, go where nobody
// who may say so allowed it.
func TestAttacksOnTheGate(t *testing.T) {
	asked, login := "", ""
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked, login = r.URL.Path, r.Header.Get("Authorization")
	}))
	defer target.Close()
	leads := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	})
	plain, safe := httptest.NewServer(leads), httptest.NewTLSServer(leads)
	defer plain.Close()
	defer safe.Close()
	host := strings.TrimPrefix(target.URL, "http://")
	for name, address := range map[string]string{
		"another server":                     target.URL,
		"allowed as the user of another":     "http://" + strings.TrimPrefix(plain.URL, "http://") + "@" + host + "/x",
		"a way back":                         plain.URL + "/?to=" + url.QueryEscape(target.URL+"/x"),
		"without a scheme":                   plain.URL + "/?to=" + url.QueryEscape("//"+host+"/x"),
		"two ways":                           plain.URL + "/?to=" + url.QueryEscape(plain.URL+"/?to="+url.QueryEscape(target.URL+"/x")),
		"from https to http":                 safe.URL + "/?to=" + url.QueryEscape(target.URL+"/x"),
		"a backslash for the end of a host":  "http://" + host + `\@` + strings.TrimPrefix(plain.URL, "http://"),
		"another port of an allowed address": strings.Replace(target.URL, "127.0.0.1", "127.1", 1),
		"the same address, written as IPv6":  strings.Replace(target.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1),
	} {
		asked = ""
		a := Bind(plain.URL, safe.URL)
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			continue // it is no address
		}
		req.Header.Set("Authorization", "Basic canary")
		answer, err := a.Client(safe.Client().Transport).Do(req)
		if err == nil {
			answer.Body.Close()
		}
		if asked != "" || err == nil {
			t.Errorf("%s: %s was asked, %v", name, asked, err)
		}
	}

	// From https to https a server may lead on, as package indexes do: without the login.
	elsewhere := httptest.NewTLSServer(target.Config.Handler)
	defer elsewhere.Close()
	req, err := http.NewRequest(http.MethodGet, safe.URL+"/?to="+url.QueryEscape(elsewhere.URL+"/led"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Basic canary")
	transport := Transport()
	transport.TLSClientConfig = safe.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	transport.TLSClientConfig.RootCAs.AddCert(elsewhere.Certificate())
	if answer, err := Bind(safe.URL).Client(transport).Do(req); err != nil || asked != "/led" || login != "" {
		t.Errorf("led on: %q, login %q, %v", asked, login, err)
	} else {
		answer.Body.Close()
	}

	// What an answer names widens a copy, and not what was allowed before.
	first := Bind(plain.URL)
	second, third := first.Files("https://a.example/x"), first.Files("https://b.example/x")
	if first.File("https://a.example/y") || second.File("https://b.example/y") || third.File("https://a.example/y") || second.Index("https://a.example/x") {
		t.Error("one value widened another")
	}
	if _, err := (Allowed{}).Files().Client(nil).Get(plain.URL); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("nothing is allowed: %v", err)
	}
}
