package reach

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAllowedFile(t *testing.T) {
	a := Bind("https://download.pytorch.org/whl/cu126", "https://y.github.io/simple", "http://127.0.0.1:8080/simple", "https://10.0.0.1/simple",
		"https://mirror.corp.example:8443/simple", "default", "https://[::1]/x")
	for file, want := range map[string]bool{
		"https://download.pytorch.org/whl/x.whl":      true,
		"https://download.pytorch.org:443/whl/x.whl":  true,
		"https://download-r2.pytorch.org/whl/x.whl":   true,
		"http://download.pytorch.org/whl/x.whl":       false, // another origin
		"https://download.pytorch.org:8443/x.whl":     false,
		"https://download.pytorch.org.evil.example/x": false,
		"https://pytorch.org.evil.example/x":          false,
		"https://y.github.io/x.whl":                   true,
		"https://x.github.io/x.whl":                   false, // a public suffix: somebody else's
		"https://github.io/x.whl":                     false,
		"http://127.0.0.1:8080/x.whl":                 true,
		"http://127.0.0.1:8081/x.whl":                 false,
		"https://127.0.0.1:8080/x.whl":                false,
		"http://11.0.0.1/x.whl":                       false, // no parent domain 0.0.1
		"https://11.0.0.1/x.whl":                      false,
		"https://files.corp.example:8443/x.whl":       true,
		"https://files.corp.example/x.whl":            false,
		"https://[::1]/x.whl":                         true,
		"https://[::2]/x.whl":                         false,
		"https://download.pytorch.org@evil.example/x": false,
		"file:///etc/passwd":                          false,
		"":                                            false,
		"https://DOWNLOAD.pytorch.org%2eevil/x":       false,
	} {
		if got := a.File(file); got != want {
			t.Errorf("File(%q) = %v, want %v", file, got, want)
		}
	}
	if !a.Index("https://y.github.io/simple") || a.Index("https://y.github.io/simple2") || (Allowed{}).File("https://y.github.io") {
		t.Error("an index is one that was named, to the letter")
	}
}

// TestAllowedClient asks servers that are allowed and not, and one that leads elsewhere.
func TestAllowedClient(t *testing.T) {
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer elsewhere.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/leads") {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		}
	}))
	defer home.Close()
	c := Bind(home.URL).Client(nil)
	if _, err := c.Get(home.URL); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{elsewhere.URL, home.URL + "/leads"} {
		if _, err := c.Get(address); !errors.Is(err, ErrNotAllowed) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := (Allowed{}).Client(nil).Get(home.URL); !errors.Is(err, ErrNotAllowed) || asked != 0 {
		t.Errorf("nothing is allowed: %v, %d requests", err, asked)
	}
}
