package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serveWheel serves one wheel's bytes through a handler that may lie.
func serveWheel(t *testing.T, b []byte, lie func(w http.ResponseWriter, r *http.Request, b []byte) bool) (*Client, File) {
	t.Helper()
	return serveSilent(t, b, 5*time.Second, lie)
}

// serveSilent is serveWheel with a limit to silence.
func serveSilent(t *testing.T, b []byte, stall time.Duration, lie func(w http.ResponseWriter, r *http.Request, b []byte) bool) (*Client, File) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lie != nil && lie(w, r, b) {
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	c, err := New(s.URL+"/simple", Options{Stall: stall})
	if err != nil {
		t.Fatal(err)
	}
	return c, File{Name: torchWheel("312").Filename(), URL: s.URL + "/files/torch.whl"}
}

func TestServersThatLie(t *testing.T) {
	whole := torchWheel("312").Bytes()
	partial := func(w http.ResponseWriter, span string, body []byte) {
		w.Header().Set("Content-Range", span)
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(body)
	}
	for name, tt := range map[string]struct {
		lie  func(w http.ResponseWriter, r *http.Request, b []byte) bool
		want string
	}{
		"no ranges": {func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			_, _ = w.Write(b)
			return true
		}, "does not serve parts of files"},
		"another range": {func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			partial(w, fmt.Sprintf("bytes 0-9/%d", len(b)), b[:10])
			return true
		}, "the server sends 0 to 9"},
		"less than announced": {func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			partial(w, fmt.Sprintf("bytes 0-%d/%d", len(b)-1, len(b)), b[:10])
			return true
		}, "the server announces 10"},
		"a range without a total": {func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			partial(w, "bytes 0-9/*", b[:10])
			return true
		}, "makes no sense"},
		"a Content-Range with an escape": {func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			partial(w, "bytes \u202e0-9/10", b[:10])
			return true
		}, `"bytes  0-9/10" makes no sense`},
		"a size that changes": {func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				return false
			}
			var from, to int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			partial(w, fmt.Sprintf("bytes %d-%d/%d", from, to, len(b)+1), b[from:to+1])
			return true
		}, "the file changed while it was read"},
		"an endless head": {func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			<-r.Context().Done()
			return true
		}, "the server was silent for 60ms"},
		"an endless body": {func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(b)-1, len(b)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(b[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}, "the server was silent for 60ms"},
		"another host": {func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.Redirect(w, r, "http://localhost:1/elsewhere", http.StatusFound)
			return true
		}, "redirects to another host, localhost:1"},
		"redirects without end": {func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
			return true
		}, "more than 5 redirects"},
		"no access": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, "refuses access (HTTP 403)"},
		"always down": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, "the server answers HTTP 502"},
		"a teapot": {func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.WriteHeader(http.StatusTeapot)
			return true
		}, "the server answers HTTP 418"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stall := 5 * time.Second
			if strings.Contains(tt.want, "silent") {
				stall = 60 * time.Millisecond
			}
			c, f := serveSilent(t, whole, stall, tt.lie)
			_, err := c.Torch(t.Context(), f)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "127.0.0.1") && !strings.Contains(tt.want, "host") {
				t.Errorf("the error names the address: %v", err)
			}
		})
	}
}

func TestARequestIsTriedAgain(t *testing.T) {
	n := 0
	c, f := serveWheel(t, torchWheel("312").Bytes(), func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		n++
		if n <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return n <= 2
	})
	if _, err := c.Torch(t.Context(), f); err != nil {
		t.Error(err)
	}
}

func TestInterruptEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, f := serveWheel(t, torchWheel("312").Bytes(), func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if _, err := c.Torch(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestPasswordsStayWithTheirHost(t *testing.T) {
	var got []string
	record := func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		got = append(got, r.URL.Path+" "+user)
		if r.URL.Path == "/simple/torch/" {
			fmt.Fprintf(w, `<a href="/files/a-1-py3-none-any.whl">a-1-py3-none-any.whl</a><a href="http://localhost:%s/b-1-py3-none-any.whl">b-1-py3-none-any.whl</a>`, r.Host[strings.LastIndexByte(r.Host, ':')+1:])
		}
	}
	s := httptest.NewServer(http.HandlerFunc(record))
	defer s.Close()
	c := open(t, strings.Replace(s.URL, "http://", "http://me:secret@", 1)+"/simple")
	p, err := c.Project(t.Context(), "torch")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Files {
		_, err := c.Open(t.Context(), f)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(f.URL, "secret") {
			t.Errorf("%s: %v", f.URL, err)
		}
	}
	if d := cmp.Diff([]string{"/simple/torch/ me", "/files/a-1-py3-none-any.whl me", "/b-1-py3-none-any.whl "}, got); d != "" {
		t.Error(d)
	}
	if strings.Contains(c.Address(), "secret") {
		t.Error(c.Address())
	}
}

func TestRedirectsFromHTTPS(t *testing.T) {
	from := httptest.NewRequest(http.MethodGet, "https://index.example/a", nil)
	to := httptest.NewRequest(http.MethodGet, "http://index.example/b", nil)
	if err := sameHost(to, []*http.Request{from}); err == nil || !strings.Contains(err.Error(), "https to http") {
		t.Errorf("got %v", err)
	}
	if err := sameHost(from, []*http.Request{to}); err != nil {
		t.Error(err)
	}
}

func TestNewRefusesWhatIsNoIndex(t *testing.T) {
	for _, bad := range []string{"", "torch", "ftp://index.example/simple", "file:///etc", "https://", "https://a b/simple", "http://me:secret@[bad/simple"} {
		if _, err := New(bad, Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Zip directories that lie. Each change is made to a good wheel.
func TestZipDirectoriesThatLie(t *testing.T) {
	good := torchWheel("312").Bytes()
	end := bytes.LastIndex(good, []byte(endMagic))
	dir := int(u32(good, end+16))
	entryOf := func(b []byte, name string) int {
		return bytes.LastIndex(b, []byte(name)) - entrySize
	}
	put16 := func(b []byte, at, v int) { binary.LittleEndian.PutUint16(b[at:], uint16(v)) }
	put32 := func(b []byte, at, v int) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }
	at := func(b []byte) int { return entryOf(b, "torch/version.py") }
	for name, tt := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"not a zip":              {func([]byte) []byte { return bytes.Repeat([]byte("x"), 100_000) }, "no zip directory"},
		"empty":                  {func([]byte) []byte { return []byte("x") }, "no zip directory"},
		"cut off":                {func(b []byte) []byte { return b[:end+10] }, "no zip directory"},
		"bytes behind the end":   {func(b []byte) []byte { return append(b, "more"...) }, "no zip directory"},
		"several disks":          {func(b []byte) []byte { put16(b, end+4, 1); return b }, "several disks"},
		"a directory elsewhere":  {func(b []byte) []byte { put32(b, end+16, dir-100); return b }, "lies about its place"},
		"beyond the file":        {func(b []byte) []byte { put32(b, end+16, 1<<31-1); return b }, "lies about its place"},
		"a huge directory":       {func(b []byte) []byte { put32(b, end+12, 1<<31-1); return b }, "too much"},
		"too few entries":        {func(b []byte) []byte { put16(b, end+8, 2); put16(b, end+10, 2); return b }, "claims 2"},
		"too many entries":       {func(b []byte) []byte { put16(b, end+8, 9000); put16(b, end+10, 9000); return b }, "lies about its place"},
		"zip64 without a record": {func(b []byte) []byte { put32(b, end+16, 0xffffffff); return b }, "zip64 record is not there"},
		"a broken entry":         {func(b []byte) []byte { b[dir] = 'Q'; return b }, "is broken"},
		"a name without end":     {func(b []byte) []byte { put16(b, dir+28, 65000); return b }, "cut off"},
		"a path that climbs":     {func(b []byte) []byte { copy(b[at(b)+entrySize:], "../../etc/passwd"); return b }, "which no wheel may hold"},
		"an absolute path":       {func(b []byte) []byte { copy(b[at(b)+entrySize:], "/"); return b }, "which no wheel may hold"},
		"an escape in a name":    {func(b []byte) []byte { copy(b[at(b)+entrySize:], "a/../\x1b[2J"); return b }, "sion.py"},
		"one name twice": {func(b []byte) []byte {
			copy(b[entryOf(b, "torch/lib/libtorch_hip1.so")+entrySize:], "torch/lib/libtorch_cuda.so")
			return b
		}, "torch/lib/libtorch_cuda.so twice"},
		"a member past the end":   {func(b []byte) []byte { put32(b, at(b)+42, dir); return b }, "beyond the zip directory"},
		"a member of another":     {func(b []byte) []byte { put32(b, at(b)+42, 0); return b }, "disagree"},
		"a member of nothing":     {func(b []byte) []byte { put32(b, at(b)+42, 5); return b }, "points to something else"},
		"a wrong checksum":        {func(b []byte) []byte { put32(b, at(b)+16, 7); return b }, "checksum"},
		"a size too small":        {func(b []byte) []byte { put32(b, at(b)+24, 7); return b }, "inflates to more than the announced 7"},
		"a size too large":        {func(b []byte) []byte { put32(b, at(b)+24, 60_000); return b }, "announced were 60000"},
		"a size beyond the limit": {func(b []byte) []byte { put32(b, at(b)+24, 1<<30); return b }, "are not read"},
		"an unknown method":       {func(b []byte) []byte { put16(b, at(b)+10, 12); put16(b, int(u32(b, at(b)+42))+8, 12); return b }, "method 12"},
		"an encrypted member":     {func(b []byte) []byte { put16(b, at(b)+8, 1); return b }, "is encrypted"},
		"broken bytes": {func(b []byte) []byte {
			o := int(u32(b, at(b)+42)) + localSize + 16
			copy(b[o:], "\xff\xff\xff\xff")
			return b
		}, "are broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, f := serveWheel(t, tt.change(bytes.Clone(good)), nil)
			_, err := c.Torch(t.Context(), f)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("%q could steer a terminal", err)
			}
		})
	}
}
