// Package index reads a Python package index as little as possible: the simple
// API in JSON or HTML, the metadata of a wheel, and single members of a wheel by
// HTTP range requests, without downloading the wheel. From a torch wheel it reads
// what the wheel is: its label, CUDA, pins, tags, glibc and the GPUs that its
// code was built for.
//
// Everything that comes from an index is hostile until it is checked: every size
// has a limit before anything of that size is allocated, redirects may not leave
// the host, silence ends the request, and a zip directory that contradicts itself
// is refused. The package writes nothing and knows no index of its own.
package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"envfix/internal/machine"
	"envfix/internal/reach"
	"envfix/internal/say"
	"envfix/internal/text"
)

// What a caller may want to tell apart.
var (
	// ErrNoRanges: the server answers with the whole file.
	ErrNoRanges = errors.New("the server does not serve parts of files (HTTP range requests)")
	// ErrNotFound: the server says 404 or 410.
	ErrNotFound = errors.New("not found")
)

// MaxConnections is the number of connections that a Client keeps open at a
// time.
const MaxConnections = 4

// A Client reads one simple index. Its zero value is not usable; see [New].
type Client struct {
	base      *url.URL
	transport http.RoundTripper
	stall     time.Duration

	mu      sync.Mutex
	allowed reach.Allowed // the index, and where its pages say that files lie

	bytes, requests atomic.Int64

	torches []exports // what releases of torch have for others to link; nil: not read
}

// Options are the parts of a Client that rarely change.
type Options struct {
	Transport http.RoundTripper // nil: Go's own, with the proxies and certificates of the environment
	Stall     time.Duration     // silence that ends a request; 0: 30 s
}

// New returns a client for the simple index at an address, such as
// https://download.pytorch.org/whl/cu126. Its error says what is wrong with the
// address.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("%q is not the address of an index; it looks like https://HOST/simple", text.Refused(address))
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawQuery, u.Fragment = "", ""
	if o.Transport == nil {
		t := reach.Transport()
		t.MaxConnsPerHost, t.MaxIdleConnsPerHost = MaxConnections, MaxConnections
		t.DisableCompression = true // lengths are checked against what was asked for
		o.Transport = t
	}
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	return &Client{base: u, stall: o.Stall, transport: o.Transport, allowed: reach.Bind(u.String())}, nil
}

// client asks the index and where it said that files lie.
func (c *Client) client(files ...File) *http.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range files {
		c.allowed = c.allowed.Files(f.URL)
	}
	h := c.allowed.Client(c.transport)
	h.CheckRedirect = sameHost
	return h
}

// Address returns the index's address without its password.
func (c *Client) Address() string { return c.base.Redacted() }

// Cost returns the bytes and requests that the client has used.
func (c *Client) Cost() (bytes, requests int64) { return c.bytes.Load(), c.requests.Load() }

// Project reads the page of a project.
func (c *Client) Project(ctx context.Context, name string) (*Project, error) {
	u := c.base.JoinPath(machine.NormalName(name) + "/")
	body, r, err := c.get(ctx, u.String(),
		request{limit: maxPage, accept: "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"})
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("the index %s has no project %s: %w", c.Address(), machine.NormalName(name), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	p, err := ParsePage(name, r.final, r.contentType, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	c.client(p.Files...)
	return p, nil
}

// A request is one GET. Where length is not 0, it asks for the length bytes from
// offset on; a negative offset counts from the end of the file.
type request struct {
	accept         string
	offset, length int64
	limit          int64 // of a whole answer
}

// A response is what a request learned beside the bytes.
type response struct {
	final       string // address after redirects
	contentType string
	total       int64 // size of the whole file, for a range
}

// tries is how often a request is made before its error counts: servers in
// front of an index close connections and answer 502 now and then.
const tries = 3

func (c *Client) get(ctx context.Context, address string, q request) (body []byte, r response, err error) {
	for try := range tries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return nil, r, context.Cause(ctx)
			case <-time.After(time.Duration(try) * c.stall / 60):
			}
		}
		body, r, err = c.once(ctx, address, q)
		var t *transient
		if err == nil || ctx.Err() != nil || !errors.As(err, &t) {
			break
		}
	}
	return body, r, err
}

// A transient error is worth another try.
type transient struct{ err error }

func (t *transient) Error() string { return t.err.Error() }
func (t *transient) Unwrap() error { return t.err }

func (c *Client) once(ctx context.Context, address string, q request) ([]byte, response, error) {
	// However slowly the bytes drip, a request ends.
	ctx, end := context.WithTimeoutCause(ctx, 20*c.stall, fmt.Errorf("the server took longer than %s", 20*c.stall))
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, response{}, err
	}
	c.login(req.URL, req)
	req.Header.Set("User-Agent", "envfix")
	req.Header.Set("Accept-Encoding", "identity")
	if q.accept != "" {
		req.Header.Set("Accept", q.accept)
	}
	if q.length != 0 {
		req.Header.Set("Range", q.header())
	}
	c.requests.Add(1)
	watch := time.AfterFunc(c.stall, func() { cancel(fmt.Errorf("the server was silent for %s", c.stall)) })
	defer watch.Stop()
	resp, err := c.client().Do(req)
	if err != nil {
		return nil, response{}, reason(ctx, err)
	}
	defer resp.Body.Close()
	r := response{final: resp.Request.URL.String(), contentType: resp.Header.Get("Content-Type")}
	want, err := q.check(resp, &r)
	if err != nil {
		return nil, r, err
	}
	b, err := io.ReadAll(&patient{r: io.LimitReader(resp.Body, want+1), watch: watch, stall: c.stall, count: &c.bytes})
	switch {
	case err != nil:
		return nil, r, reason(ctx, err)
	case int64(len(b)) > want && q.length == 0:
		return nil, r, fmt.Errorf("the answer is longer than %d bytes", want)
	case q.length != 0 && int64(len(b)) != want:
		return nil, r, fmt.Errorf("asked for %d bytes, got %d", want, len(b))
	}
	return b, r, nil
}

// header is the Range header of the request.
func (q request) header() string {
	return say.Either(q.offset < 0, fmt.Sprintf("bytes=-%d", q.length), fmt.Sprintf("bytes=%d-%d", q.offset, q.offset+q.length-1))
}

// check judges the head of an answer and returns how many bytes must follow (at
// most, for a whole file).
func (q request) check(resp *http.Response, r *response) (int64, error) {
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		return 0, fmt.Errorf("%w (HTTP %d)", ErrNotFound, code)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return 0, fmt.Errorf("the server refuses access (HTTP %d)", code)
	case code == http.StatusTooManyRequests || code >= 500:
		return 0, &transient{fmt.Errorf("the server answers HTTP %d", code)}
	case q.length != 0 && code == http.StatusOK:
		return 0, ErrNoRanges
	case q.length == 0 && code == http.StatusOK:
		if resp.ContentLength > q.limit {
			return 0, fmt.Errorf("the answer has %d bytes, more than %d are not read", resp.ContentLength, q.limit)
		}
		return q.limit, nil
	case q.length == 0 || code != http.StatusPartialContent:
		return 0, fmt.Errorf("the server answers HTTP %d", code)
	}
	return q.checkRange(resp, r)
}

// checkRange holds the range that a server sends against the one that was asked for.
func (q request) checkRange(resp *http.Response, r *response) (int64, error) {
	first, last, total, err := contentRange(resp.Header.Get("Content-Range"))
	if err != nil {
		return 0, err
	}
	r.total = total
	from, n := q.offset, q.length
	if q.offset < 0 {
		n = min(n, total)
		from = total - n
	}
	if first != from || last != from+n-1 || last >= total {
		return 0, fmt.Errorf("asked for bytes %d to %d, the server sends %d to %d of %d", from, from+n-1, first, last, total)
	}
	if resp.ContentLength >= 0 && resp.ContentLength != n {
		return 0, fmt.Errorf("asked for %d bytes, the server announces %d", n, resp.ContentLength)
	}
	return n, nil
}

// contentRange reads "bytes 0-65535/538976288".
func contentRange(s string) (first, last, total int64, err error) {
	const form = "bytes %d-%d/%d"
	_, err = fmt.Sscanf(s, form, &first, &last, &total)
	if err != nil || s != fmt.Sprintf(form, first, last, total) || first < 0 || last < first || total <= 0 {
		return 0, 0, 0, fmt.Errorf("the server's Content-Range %q makes no sense", shown(s))
	}
	return first, last, total, nil
}

// login sends the user and password of the index's address to its own host only.
func (c *Client) login(u *url.URL, req *http.Request) {
	if c.base.User == nil || u.Host != c.base.Host || u.Scheme != c.base.Scheme {
		return
	}
	password, _ := c.base.User.Password()
	req.SetBasicAuth(c.base.User.Username(), password)
}

// sameHost lets redirects move within a host, and from http to https. An index
// that keeps its files elsewhere names that host in its page.
func sameHost(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > 5:
		return &refused{"more than 5 redirects"}
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &refused{"the server redirects to an address of " + shown(req.URL.Scheme) + ":, which is not followed"}
	case req.URL.Hostname() != from.Hostname():
		return &refused{"the server redirects to another host, " + shown(req.URL.Host) + ", which is not followed"}
	case from.Scheme == "https" && req.URL.Scheme != "https":
		return &refused{"the server redirects from https to http, which is not followed"}
	}
	return nil
}

// A refused redirect.
type refused struct{ why string }

func (r *refused) Error() string { return r.why }

// patient is a reader that counts, and keeps the watch alive while bytes come.
type patient struct {
	r     io.Reader
	watch *time.Timer
	stall time.Duration
	count *atomic.Int64
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 {
		p.count.Add(int64(n))
		p.watch.Reset(p.stall)
	}
	return n, err
}

// reason turns an error of net/http into one without the address, which callers
// add, and without passwords. A lost connection is transient.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var no *refused
	if errors.As(err, &no) {
		return err
	}
	return &transient{errors.New(text.Printable(err.Error()))}
}

// File reads a whole file below the address, of at most limit bytes.
func (c *Client) File(ctx context.Context, name string, limit int64) ([]byte, error) {
	b, _, err := c.get(ctx, c.base.JoinPath(name).String(), request{limit: limit})
	return b, err
}

// Archive reads a file of a project's page whole, of at most limit bytes, and holds it to
// the page's digest.
func (c *Client) Archive(ctx context.Context, f File, limit int64) ([]byte, error) {
	b, _, err := c.get(ctx, f.URL, request{limit: limit})
	if err != nil {
		return nil, err
	}
	if f.SHA256 != "" && fmt.Sprintf("%x", sha256.Sum256(b)) != f.SHA256 {
		return nil, fmt.Errorf("%s: its sha256 is not the one that the index names", f.Name)
	}
	return b, nil
}
