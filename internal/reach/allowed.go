package reach

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"golang.org/x/net/publicsuffix"
)

// Allowed is what a request needs: the indexes that may be asked, and the origins (scheme,
// host and port) that files may lie on. The zero value allows nothing.
type Allowed struct {
	indexes []string
	origins []*url.URL
}

// Bind allows the addresses that the data and the user name, and none that a lock, a plan
// or an answer names: internal/ci/gates knows who may call it.
func Bind(addresses ...string) Allowed {
	return Allowed{indexes: addresses}.Files(addresses...)
}

// Files allows the origins of more files: those that the installer named.
func (a Allowed) Files(addresses ...string) Allowed {
	out := Allowed{a.indexes, slices.Clip(a.origins)}
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.Host != "" && !out.admits(u) {
			out.origins = append(out.origins, u)
		}
	}
	return out
}

// Index reports whether an index is one of those that were named.
func (a Allowed) Index(address string) bool { return slices.Contains(a.indexes, address) }

// File reports whether a file lies on an origin that was named or beside it.
func (a Allowed) File(address string) bool {
	u, err := url.Parse(address)
	return err == nil && a.admits(u)
}

func (a Allowed) admits(u *url.URL) bool {
	return slices.ContainsFunc(a.origins, func(o *url.URL) bool {
		return u.Scheme == o.Scheme && port(u) == port(o) && (u.Hostname() == o.Hostname() || beside(u, o))
	})
}

// beside reports whether two hosts are of one site, as download-r2.pytorch.org is beside
// download.pytorch.org: below one name that somebody registered. An IP address is beside
// none, nor are two names below one public suffix (x.github.io and y.github.io).
func beside(a, b *url.URL) bool {
	if isAddress(a) || isAddress(b) {
		return false
	}
	x, xerr := publicsuffix.EffectiveTLDPlusOne(a.Hostname())
	y, yerr := publicsuffix.EffectiveTLDPlusOne(b.Hostname())
	return xerr == nil && yerr == nil && x == y
}

func isAddress(u *url.URL) bool {
	_, err := netip.ParseAddr(u.Hostname())
	return err == nil
}

// Client asks what is allowed and nothing else, by t; nil: as the environment says. A
// server that is allowed may lead to another one, from https to https: without the login.
func (a Allowed) Client(t http.RoundTripper) *http.Client {
	if t == nil {
		t = http.DefaultTransport
	}
	return &http.Client{Transport: gate{a, t}}
}

// Transport is a copy of Go's own: with the proxies and certificates of the environment.
func Transport() *http.Transport { return http.DefaultTransport.(*http.Transport).Clone() }

type gate struct {
	Allowed
	next http.RoundTripper
}

// ErrNotAllowed: neither the data nor the user named where a request would go.
var ErrNotAllowed = errors.New("neither an index of the matrix nor a mirror that you named")

func (g gate) RoundTrip(req *http.Request) (*http.Response, error) {
	if !g.admits(req.URL) {
		led := req.Response != nil && req.Response.Request.URL.Scheme == "https" && req.URL.Scheme == "https"
		if !led {
			return nil, fmt.Errorf("%s is %w", req.URL.Host, ErrNotAllowed)
		}
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	return g.next.RoundTrip(req)
}
