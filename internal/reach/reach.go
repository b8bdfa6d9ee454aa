// Package reach asks whether an index takes connections, before an installer tries
// it for minutes.
package reach

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
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
const NetworkHint = "check the network and the name resolution; behind a proxy set HTTPS_PROXY and HTTP_PROXY, which envfix passes on"

// Hint is what to see to where an installer's network fails, by its words: the proxy of what
// they name, where there is one. apt goes over http, to which HTTPS_PROXY says nothing.
func Hint(said string) string {
	u := &url.URL{Scheme: "https"}
	if strings.Contains(said, "http://") && !strings.Contains(said, "https://") {
		u.Scheme = "http"
	}
	if proxy, variable := proxyFor(u); proxy != nil {
		return proxyHint(variable)
	}
	return NetworkHint
}

func proxyHint(variable string) string {
	return fmt.Sprintf("see whether %s names the right proxy, or `unset %s`", variable, variable)
}

// Index opens a connection to the server of an index, through the proxy before it where
// there is one, and says what keeps it from that; nil where nothing does. What is neither a
// name that does not resolve, a server that takes no connection nor a proxy that opens no way
// is the installer's to find.
func Index(ctx context.Context, index string) *Error {
	u, err := url.Parse(index)
	if err != nil {
		return nil
	}
	return connect(ctx, u, index)
}

// connect is Index for an address; one without a host is not known, and the proxy alone is
// asked.
func connect(ctx context.Context, u *url.URL, index string) *Error {
	at, variable := u, ""
	if proxy, name := proxyFor(u); proxy != nil {
		at, variable = proxy, name
	}
	// What NO_PROXY means beside ALL_PROXY is the installer's to say, and not Go's.
	mayBypass := slices.Contains(allProxy, variable) && os.Getenv("NO_PROXY")+os.Getenv("no_proxy") != ""
	if mayBypass || at.Host == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	what := ""
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port(at)))
	if err != nil {
		what = unreached(err)
	} else {
		defer c.Close()
		if variable != "" && at.Scheme == "http" && u.Scheme == "https" && u.Host != "" {
			what = opens(c, at.User, net.JoinHostPort(u.Hostname(), port(u)))
		}
	}
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
		Text:  fmt.Sprintf("%s cannot be reached: of the proxy before it, %s=%s, %s", cmp.Or(u.Host, "the default index"), variable, shown.String(), what),
		Hint:  proxyHint(variable),
		Err:   err,
	}
}

// opens asks a proxy for the way to a server, as an installer does, and says what it answers
// where it opens none; "" it does, or says nothing that can be read.
func opens(c net.Conn, login *url.Userinfo, server string) string {
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: server}, Host: server, Header: http.Header{}}
	if password, _ := login.Password(); login != nil {
		ask.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login.Username()+":"+password)))
	}
	if errors.Join(c.SetDeadline(time.Now().Add(wait)), ask.Write(c)) != nil {
		return ""
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), ask)
	if err != nil || answer.StatusCode/100 == 2 {
		return ""
	}
	return fmt.Sprintf("the answer is %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
}

// DefaultIndex does the same for the installer's default index, of which only the
// proxy before it is known. Where NO_PROXY is set it may need none: nothing is asked.
func DefaultIndex(ctx context.Context) *Error {
	if os.Getenv("NO_PROXY")+os.Getenv("no_proxy") != "" {
		return nil
	}
	return connect(ctx, &url.URL{Scheme: "https"}, "default")
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
