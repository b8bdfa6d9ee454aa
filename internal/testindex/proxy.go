package testindex

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ServeTLS is [Serve] with a certificate that nobody trusts who was not given
// bundle, a PEM file.
func ServeTLS(t testing.TB, wheels ...Wheel) (x *Index, bundle string) {
	t.Helper()
	x = &Index{wheels: map[string][]Wheel{}, faults: map[string][]Fault{}, times: map[string]int{}}
	x.Add(wheels...)
	s := httptest.NewUnstartedServer(http.HandlerFunc(x.serve))
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(x.start(s))
	bundle = filepath.Join(t.TempDir(), "bundle.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(bundle, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return x, bundle
}

// A Proxy is an HTTP proxy on loopback, for plain http addresses alone.
type Proxy struct {
	Host string // 127.0.0.1:…

	mu       sync.Mutex
	password string // "" none is wanted
	seen     []string
}

// ServeProxy starts a proxy that wants the user "me" and this password; "" lets
// everybody through.
func ServeProxy(t testing.TB, password string) *Proxy {
	t.Helper()
	p := &Proxy{password: password}
	s := httptest.NewServer(p)
	p.Host = strings.TrimPrefix(s.URL, "http://")
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return p
}

// Seen returns the addresses that were asked for with leave.
func (p *Proxy) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	as := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	if user, password, ok := as.BasicAuth(); p.password != "" && (!ok || user != "me" || password != p.password) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
		return
	}
	p.mu.Lock()
	p.seen = append(p.seen, r.URL.String())
	p.mu.Unlock()
	out, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out.Header = r.Header.Clone()
	out.Header.Del("Proxy-Authorization")
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	for k, v := range answer.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // a client that went away
}
