package apply

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

// reachWait is how long a server may take to accept a connection.
const reachWait = 10 * time.Second

// reachable refuses a plan whose indexes cannot be reached, before anything is
// begun: an installer would try each for minutes. The installer's default index has
// no address in a plan, and is left to it.
func (r *run) reachable(ctx context.Context) error {
	if r.plan.Target.Offline {
		return nil
	}
	var asked []string
	for _, s := range r.plan.Steps {
		if s.Run == nil || s.Root {
			continue
		}
		for _, index := range indexesOf(s.Run.Argv) {
			if slices.Contains(asked, index) {
				continue
			}
			asked = append(asked, index)
			if err := reach(ctx, index); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexesOf are the addresses that a command fetches from.
func indexesOf(argv []string) []string {
	var out []string
	for i, a := range argv[:max(len(argv)-1, 0)] {
		names := a == "--default-index" || a == "--index-url" || a == "--channel" || a == "-c"
		if to := argv[i+1]; names && (strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")) {
			out = append(out, to)
		}
	}
	return out
}

// reach opens a connection to the server of an index, or to the proxy before it,
// and says what keeps it from that. What is neither a name that does not resolve nor
// a server that takes no connection is the installer's to find.
func reach(ctx context.Context, index string) error {
	u, err := url.Parse(index)
	if err != nil {
		return nil
	}
	at, variable := u, ""
	if proxy, name := proxyFor(u); proxy != nil {
		at, variable = proxy, name
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "socks5": "1080"}[at.Scheme]
		if port == "" {
			port = "443"
		}
	}
	ctx, stop := context.WithTimeout(ctx, reachWait)
	defer stop()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port))
	if err == nil {
		c.Close()
		return nil
	}
	what := unreached(err)
	if what == "" {
		return nil
	}
	e := &Error{Kind: Failed, Text: fmt.Sprintf("%s cannot be reached: %s", u.Host, what), Hints: []string{proxyHint}, Index: index, Err: err}
	if variable != "" {
		shown := *at
		shown.User = nil
		e.Text = fmt.Sprintf(
			"%s cannot be reached: of the proxy before it, %s=%s, %s",
			u.Host,
			variable,
			shown.String(),
			strings.Replace(what, "the server", "the proxy", 1),
		)
		e.Hints = []string{fmt.Sprintf("see whether %s names the right proxy, or `unset %s`", variable, variable)}
	}
	return e
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
		return fmt.Sprintf("the server did not answer in %v", reachWait)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to it from this network"
	}
	return ""
}

// proxyFor is the proxy that an installer takes for an address, as our environment
// names it, and the variable; nil where there is none.
func proxyFor(u *url.URL) (*url.URL, string) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil || proxy == nil {
		return nil, ""
	}
	for _, name := range []string{strings.ToUpper(u.Scheme) + "_PROXY", u.Scheme + "_proxy"} {
		if os.Getenv(name) != "" {
			return proxy, name
		}
	}
	return proxy, "the proxy's variable"
}
