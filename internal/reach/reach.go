// Package reach asks whether an index takes connections, before an installer tries
// it for minutes.
package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// wait is how long a server may take to accept a connection.
const wait = 10 * time.Second

// An Error is an index that cannot be reached.
type Error struct {
	Index string // its address, as it was asked for
	Text  string // the host, or the proxy and its variable without its password, and why
	Hint  string // what to see to
	Err   error
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// NetworkHint is what to see to where no proxy is named.
const NetworkHint = "check the network and the name resolution; behind a proxy set HTTPS_PROXY, which envfix passes on"

// Index opens a connection to the server of an index, or to the proxy before it,
// and says what keeps it from that; nil where nothing does. What is neither a name
// that does not resolve nor a server that takes no connection is the installer's to
// find.
func Index(ctx context.Context, index string) *Error {
	u, err := url.Parse(index)
	if err != nil {
		return nil
	}
	at, variable := u, ""
	if proxy, name := proxyFor(u); proxy != nil {
		at, variable = proxy, name
	}
	if mayBypass(variable) {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port(at)))
	if err == nil {
		c.Close()
		return nil
	}
	what := unreached(err)
	switch {
	case what == "":
		return nil
	case variable == "":
		return &Error{Index: index, Text: fmt.Sprintf("%s cannot be reached: %s", u.Host, what), Hint: NetworkHint, Err: err}
	}
	shown := *at
	shown.User = nil
	what = strings.Replace(what, "the server", "the proxy", 1)
	return &Error{
		Index: index,
		Text:  fmt.Sprintf("%s cannot be reached: of the proxy before it, %s=%s, %s", u.Host, variable, shown.String(), what),
		Hint:  fmt.Sprintf("see whether %s names the right proxy, or `unset %s`", variable, variable),
		Err:   err,
	}
}

// DefaultIndex does the same for the installer's default index, of which only the
// proxy before it is known. Where NO_PROXY is set it may need none: nothing is asked.
func DefaultIndex(ctx context.Context) *Error {
	if os.Getenv("NO_PROXY")+os.Getenv("no_proxy") != "" {
		return nil
	}
	const index = "https://default-index.invalid"
	if proxy, _ := proxyFor(&url.URL{Scheme: "https", Host: "default-index.invalid"}); proxy == nil {
		return nil
	}
	e := Index(ctx, index)
	if e != nil {
		e.Index, e.Text = "default", strings.Replace(e.Text, "default-index.invalid", "the default index", 1)
	}
	return e
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	case strings.HasPrefix(u.Scheme, "socks"):
		return "1080"
	}
	return "443"
}

// unreached says in the installers' words why there is no connection; "" for what
// may be otherwise for them.
func unreached(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && !dns.IsTimeout:
		return "the name of the server could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the server takes no connections"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &dns), errors.Is(err, syscall.ETIMEDOUT):
		return fmt.Sprintf("the server did not answer in %v", wait)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to it from this network"
	}
	return ""
}

// proxyFor is the proxy that an installer takes for an address, as our environment
// names it, and the variable; nil where there is none.
func proxyFor(u *url.URL) (*url.URL, string) {
	for _, name := range []string{strings.ToUpper(u.Scheme) + "_PROXY", u.Scheme + "_proxy"} {
		if os.Getenv(name) != "" {
			proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
			if err != nil || proxy == nil {
				return nil, ""
			}
			return proxy, name
		}
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil, ""
	}
	for _, name := range allProxy {
		if value := os.Getenv(name); value != "" {
			if !strings.Contains(value, "://") {
				value = "http://" + value
			}
			if proxy, err := url.Parse(value); err == nil && proxy.Host != "" {
				return proxy, name
			}
		}
	}
	return nil, ""
}

// allProxy are uv's and pip's variables of the proxy where none is named for the
// scheme; Go's library does not know them.
var allProxy = []string{"ALL_PROXY", "all_proxy"}

// mayBypass reports whether an address may need no proxy, and the answer is not Go's:
// what NO_PROXY means beside ALL_PROXY is the installer's to say.
func mayBypass(variable string) bool {
	return slices.Contains(allProxy, variable) && os.Getenv("NO_PROXY")+os.Getenv("no_proxy") != ""
}
