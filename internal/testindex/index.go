package testindex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Fault is one way in which an index misbehaves.
type Fault string

// The faults. Fault is set per path below the server's root, see [Index.Break].
const (
	NotFound    Fault = "404"
	Unavailable Fault = "503"
	Garbage     Fault = "garbage"       // 200 and HTML of something else, as a captive portal sends it
	Stall       Fault = "stall"         // headers, half of the body, then silence until the client gives up
	Truncate    Fault = "truncate"      // the connection closes after half of the body
	Reset       Fault = "reset"         // the connection is reset after half of the body
	WrongBytes  Fault = "wrong bytes"   // as many bytes as announced, one of them changed
	Redirect    Fault = "redirect"      // to the same path below /moved/
	WrongHash   Fault = "wrong hash"    // on a project page: hashes of something else
	NoHash      Fault = "no hash"       // on a project page: none
	UpperHash   Fault = "upper hash"    // on a project page: in capitals
	Yanked      Fault = "yanked"        // on a project page: all files
	HTMLOnly    Fault = "html only"     // on a project page: PEP 503 whatever was asked for
	JSONOnly    Fault = "json only"     // on a project page: PEP 691 whatever was asked for
	NoMetadata  Fault = "no metadata"   // on a project page: no PEP 658 files
	NoUploadDay Fault = "no upload day" // on a project page: PEP 700's upload-time is missing
)

// An Index is a package index on loopback. Project pages are below URL, files
// below /files/.
type Index struct {
	URL  string // http://127.0.0.1:…/simple
	Host string // http://127.0.0.1:…

	mu       sync.Mutex
	wheels   map[string][]Wheel // by normal name
	faults   map[string][]Fault // by path
	times    map[string]int     // how often a fault still happens; absent: always
	requests []string
	sent     int64
}

// Serve starts an index with these wheels; it stops with the test.
func Serve(t testing.TB, wheels ...Wheel) *Index {
	t.Helper()
	x, stop := Start(wheels...)
	t.Cleanup(stop)
	return x
}

// Start is Serve where the caller stops the index.
func Start(wheels ...Wheel) (x *Index, stop func()) {
	x = &Index{wheels: map[string][]Wheel{}, faults: map[string][]Fault{}, times: map[string]int{}}
	x.Add(wheels...)
	return x, x.start(httptest.NewServer(http.HandlerFunc(x.serve)))
}

func (x *Index) start(s *httptest.Server) (stop func()) {
	x.Host, x.URL = s.URL, s.URL+"/simple"
	return func() {
		s.CloseClientConnections()
		s.Close()
	}
}

// Add puts more wheels on the index.
func (x *Index) Add(wheels ...Wheel) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, w := range wheels {
		x.wheels[Normal(w.Name)] = append(x.wheels[Normal(w.Name)], w)
	}
}

// Break makes a path misbehave: "/simple/torch/" or "/files/NAME.whl". Several
// faults of a project page add up.
func (x *Index) Break(path string, f ...Fault) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.faults[path] = append(x.faults[path], f...)
}

// BreakTimes is Break for the next n requests of that path.
func (x *Index) BreakTimes(path string, n int, f ...Fault) {
	x.Break(path, f...)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.times[path] = n
}

// Mend undoes what Break did to a path.
func (x *Index) Mend(path string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.faults, path)
	delete(x.times, path)
}

// Requests returns the paths that were asked for, in order.
func (x *Index) Requests() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.requests)
}

// Sent returns how many bytes of bodies were sent.
func (x *Index) Sent() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sent
}

// happens returns the faults of a path for this request.
func (x *Index) happens(p string) []Fault {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.requests = append(x.requests, p)
	if n, limited := x.times[p]; limited {
		if n <= 0 {
			return nil
		}
		x.times[p] = n - 1
	}
	return slices.Clone(x.faults[p])
}

func (x *Index) serve(w http.ResponseWriter, r *http.Request) {
	p := strings.TrimPrefix(r.URL.Path, "/moved")
	var faults []Fault
	if p == r.URL.Path {
		faults = x.happens(p)
	} else {
		x.mu.Lock()
		x.requests = append(x.requests, r.URL.Path)
		x.mu.Unlock()
	}
	w = &counter{ResponseWriter: w, x: x}
	for _, f := range faults {
		switch f {
		case NotFound:
			http.NotFound(w, r)
			return
		case Unavailable:
			http.Error(w, "unavailable", http.StatusServiceUnavailable)
			return
		case Garbage:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body><h1>Welcome to the guest network</h1>Log in first.</body></html>")
			return
		case Redirect:
			http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusFound)
			return
		}
	}
	switch {
	case strings.HasPrefix(p, "/simple/"):
		x.project(w, r, strings.Trim(strings.TrimPrefix(p, "/simple/"), "/"), faults)
	case strings.HasPrefix(p, "/files/"):
		x.file(w, r, strings.TrimPrefix(p, "/files/"), faults)
	default:
		http.NotFound(w, r)
	}
}

// jsonType is the media type of PEP 691.
const jsonType = "application/vnd.pypi.simple.v1+json"

type jsonFile struct {
	Filename       string            `json:"filename"`
	URL            string            `json:"url"`
	Hashes         map[string]string `json:"hashes"`
	RequiresPython string            `json:"requires-python,omitempty"`
	CoreMetadata   any               `json:"core-metadata,omitempty"`
	Size           int               `json:"size"`
	UploadTime     string            `json:"upload-time,omitempty"`
	Yanked         any               `json:"yanked"`
}

func (x *Index) project(w http.ResponseWriter, r *http.Request, name string, faults []Fault) {
	x.mu.Lock()
	wheels := slices.Clone(x.wheels[name])
	all := slices.Sorted(maps.Keys(x.wheels))
	x.mu.Unlock()
	if name == "" {
		for _, n := range all {
			fmt.Fprintf(w, "<a href=\"/simple/%s/\">%s</a>\n", n, n)
		}
		return
	}
	if len(wheels) == 0 {
		http.NotFound(w, r)
		return
	}
	files := text.Each(wheels, func(w Wheel) jsonFile { return entry(w, faults) })
	asJSON := strings.Contains(r.Header.Get("Accept"), jsonType) && !slices.Contains(faults, HTMLOnly)
	if asJSON || slices.Contains(faults, JSONOnly) {
		b, err := json.Marshal(map[string]any{
			"meta": map[string]string{"api-version": "1.1"}, "name": name, "files": files,
			"versions": xslices.Once(text.Each(wheels, func(w Wheel) string { return w.Version })),
		})
		if err != nil {
			panic(err)
		}
		body(w, r, faults, jsonType, b)
		return
	}
	body(w, r, faults, "text/html", page(name, files))
}

func entry(w Wheel, faults []Fault) jsonFile {
	sum := w.SHA256()
	f := jsonFile{
		Filename: w.Filename(), URL: "../../files/" + url.PathEscape(w.Filename()),
		Hashes: map[string]string{"sha256": sum}, RequiresPython: w.RequiresPython,
		Size: len(w.Bytes()), UploadTime: cmp.Or(w.Uploaded, "2026-01-02T03:04:05Z"), Yanked: false,
	}
	if !w.Sdist {
		f.CoreMetadata = true
	}
	for _, fault := range faults {
		switch fault {
		case WrongHash:
			f.Hashes["sha256"] = strings.Repeat("0", 60) + sum[:4]
		case NoHash:
			f.Hashes = map[string]string{}
		case UpperHash:
			f.Hashes["sha256"] = strings.ToUpper(sum)
		case Yanked:
			f.Yanked = "broken"
		case NoMetadata:
			f.CoreMetadata = nil
		case NoUploadDay:
			f.UploadTime = ""
		}
	}
	return f
}

func page(name string, files []jsonFile) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html><body><h1>Links for %s</h1>\n", html.EscapeString(name))
	for _, f := range files {
		href := f.URL
		if sum := f.Hashes["sha256"]; sum != "" {
			href += "#sha256=" + sum
		}
		attrs := ""
		if f.RequiresPython != "" {
			attrs += fmt.Sprintf(" data-requires-python=\"%s\"", html.EscapeString(f.RequiresPython))
		}
		attrs += say.If(f.CoreMetadata != nil, ` data-core-metadata="true" data-dist-info-metadata="true"`)
		if reason, yes := f.Yanked.(string); yes {
			attrs += fmt.Sprintf(" data-yanked=\"%s\"", reason)
		}
		fmt.Fprintf(&b, "<a href=\"%s\"%s>%s</a><br>\n", href, attrs, html.EscapeString(f.Filename))
	}
	b.WriteString("</body></html>\n")
	return b.Bytes()
}

// file serves a wheel, or the METADATA beside it (PEP 658).
func (x *Index) file(w http.ResponseWriter, r *http.Request, name string, faults []Fault) {
	wheelName, metadata := strings.CutSuffix(name, ".metadata")
	x.mu.Lock()
	var found *Wheel
	for _, wheels := range x.wheels {
		for i := range wheels {
			if wheels[i].Filename() == path.Base(wheelName) {
				found = &wheels[i]
			}
		}
	}
	x.mu.Unlock()
	switch {
	case found == nil:
		http.NotFound(w, r)
	case metadata:
		body(w, r, faults, "text/plain", []byte(found.Metadata()))
	default:
		body(w, r, faults, "application/octet-stream", found.Bytes())
	}
}

// body sends b, whole or in the ranges asked for, or as a fault has it.
func body(w http.ResponseWriter, r *http.Request, faults []Fault, kind string, b []byte) {
	w.Header().Set("Content-Type", kind)
	for _, f := range faults {
		switch f {
		case WrongBytes:
			b = bytes.Clone(b)
			b[len(b)/2] ^= 0x55
		case Truncate, Stall, Reset:
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			_, err := w.Write(b[:len(b)/2])
			if err == nil {
				_ = http.NewResponseController(w).Flush()
			}
			switch f {
			case Stall:
				<-r.Context().Done()
			case Reset:
				reset(w)
			}
			panic(http.ErrAbortHandler)
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

// reset ends the connection with RST instead of FIN.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, yes := conn.(*net.TCPConn); yes {
		_ = tcp.SetLinger(0) // then Close sends RST
	}
	_ = conn.Close()
}

// A counter adds up what was sent.
type counter struct {
	http.ResponseWriter
	x *Index
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.x.mu.Lock()
	c.x.sent += int64(n)
	c.x.mu.Unlock()
	return n, err
}

// Unwrap lets a connection be taken over.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
