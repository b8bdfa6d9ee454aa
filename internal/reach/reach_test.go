package reach

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestIndex(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := "http://" + l.Addr().String() + "/simple"
	if e := Index(context.Background(), open); e != nil {
		t.Errorf("%s: %v", open, e)
	}
	l.Close()
	e := Index(context.Background(), open)
	if e == nil || !strings.HasSuffix(e.Text, "cannot be reached: the server takes no connections") || !errors.Is(e, syscall.ECONNREFUSED) || e.Index != open {
		t.Errorf("a closed port: %+v", e)
	}
	e = Index(context.Background(), "https://no.such.invalid/whl")
	if e == nil || !strings.HasPrefix(e.Text, "no.such.invalid cannot be reached: ") || e.Hint != NetworkHint {
		t.Errorf("a name that nobody has: %+v", e)
	}
}

// A proxy that opens no way to a server is known before an installer tries it; the default
// index, whose name is not known, is not asked for by one.
func TestProxyOpensNoWay(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		if r.Host != "open.invalid:443" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer proxy.Close()
	t.Setenv("ALL_PROXY", strings.Replace(proxy.URL, "://", "://me:secret@", 1))
	if e := Index(t.Context(), "https://open.invalid/simple"); e != nil {
		t.Error(e)
	}
	if h := Hint(""); h != "see whether ALL_PROXY names the right proxy, or `unset ALL_PROXY`" {
		t.Errorf("a network that fails behind a proxy: %s", h)
	}
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("ALL_PROXY", "")
	if h := Hint("e: failed to fetch http://deb.example.org/debian/dists/bookworm/inrelease"); h != NetworkHint {
		t.Errorf("apt, where a proxy is named for https alone: %s", h)
	}
	t.Setenv("HTTPS_PROXY", "")
	t.Setenv("ALL_PROXY", strings.Replace(proxy.URL, "://", "://me:secret@", 1))
	e := Index(t.Context(), "https://closed.invalid/simple")
	if want := "closed.invalid cannot be reached: of the proxy before it, ALL_PROXY=" + proxy.URL + ", the answer is 403 Forbidden"; e == nil || e.Text != want {
		t.Errorf("got %+v, want %s", e, want)
	}
	if e := DefaultIndex(t.Context()); e != nil {
		t.Error(e)
	}
	if want := []string{"CONNECT open.invalid:443 Basic bWU6c2VjcmV0", "CONNECT closed.invalid:443 Basic bWU6c2VjcmV0"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
}

// A proxy for all schemes counts as for the installers: where none is named for the
// scheme, and not for what NO_PROXY names. Its password is not shown.
func TestAllProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "all_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("ALL_PROXY", "socks5://me:secret@"+closed)
	e := DefaultIndex(context.Background())
	if want := "the default index cannot be reached: of the proxy before it, ALL_PROXY=socks5://" + closed + ", the proxy takes no connections"; e == nil || e.Text != want {
		t.Errorf("got %+v, want %s", e, want)
	}
	for address, want := range map[string]string{"https://mirror.invalid/simple": "ALL_PROXY", "http://127.0.0.1:1": "", "http://localhost/": ""} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, name := proxyFor(u); name != want {
			t.Errorf("%s: %q, want %q", address, name, want)
		}
	}
	t.Setenv("NO_PROXY", "mirror.invalid")
	if e := Index(context.Background(), "https://mirror.invalid/simple"); e != nil {
		t.Errorf("what NO_PROXY may name is the installer's to find: %v", e)
	}
}
