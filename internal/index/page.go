package index

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/xslices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A Project is one project page of a simple index.
type Project struct {
	Name  string // normalised (PEP 503)
	Files []File // in the order of the page
	Notes []string
}

// A File is one file of a project page. Its name holds only the characters of
// file names of distributions, so it is safe to print.
type File struct {
	Name           string
	URL            string
	SHA256         string // 64 lower-case hexadecimal digits; "" where the page gives none
	Size           int64  // bytes; 0 where the page gives none (HTML never does)
	RequiresPython string
	Yanked         bool
	Uploaded       string // RFC 3339; "" unknown
	HasMetadata    bool   // URL + ".metadata" exists (PEP 658)
	MetadataSHA256 string // of that file; "" not given
}

// The sizes beyond which a page is refused: torch's own page, the longest
// known, has 365 KB and 750 files.
const (
	maxPage  = 32 << 20
	maxFiles = 50_000
	maxTag   = 64 << 10 // one tag or text: what a page says of one file takes 500 bytes
)

// ParsePage reads a project page: JSON (PEP 691) or HTML (PEP 503, with the
// attributes of PEP 592, 629, 658 and 714). base is the address that the page
// came from. Files whose name, address or hash makes no sense are left out, or
// lose their hash, with a note.
func ParsePage(name, base, contentType string, body []byte) (*Project, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address", text.Printable(base))
	}
	u.User = nil // it must not wander into the files' addresses
	p := &page{Project: Project{Name: machine.NormalName(name)}, base: u}
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	if kind == "application/json" || strings.HasSuffix(kind, "+json") || (kind == "" && strings.HasPrefix(strings.TrimSpace(string(body)), "{")) {
		err = p.json(body)
	} else {
		err = p.html(body)
	}
	if err != nil {
		return nil, err
	}
	return &p.Project, nil
}

type page struct {
	Project
	base *url.URL
}

func (p *page) note(format string, args ...any) {
	if len(p.Notes) < 20 {
		p.Notes = append(p.Notes, text.Printable(fmt.Sprintf(format, args...)))
	}
}

func (p *page) json(body []byte) error {
	var doc struct {
		Meta struct {
			Version string `json:"api-version"`
		} `json:"meta"`
		Files []struct {
			Filename       string            `json:"filename"`
			URL            string            `json:"url"`
			Hashes         map[string]string `json:"hashes"`
			Size           int64             `json:"size"`
			RequiresPython string            `json:"requires-python"`
			Yanked         any               `json:"yanked"`
			Uploaded       string            `json:"upload-time"`
			Core           any               `json:"core-metadata"`
			Dist           any               `json:"dist-info-metadata"`
		} `json:"files"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return fmt.Errorf("the page is not the JSON of a simple index: %s", text.Printable(err.Error()))
	}
	if err := apiVersion(doc.Meta.Version); err != nil {
		return err
	}
	for _, f := range doc.Files {
		file := File{Name: f.Filename, URL: f.URL, Size: f.Size, RequiresPython: f.RequiresPython, Uploaded: f.Uploaded}
		file.Yanked = f.Yanked != nil && f.Yanked != false
		core := f.Core
		if core == nil {
			core = f.Dist
		}
		switch v := core.(type) {
		case bool:
			file.HasMetadata = v
		case map[string]any:
			file.HasMetadata = true
			s, _ := v["sha256"].(string)
			file.MetadataSHA256 = p.sha256(f.Filename+".metadata", s, len(v) > 0)
		}
		if err := p.add(file, f.Hashes["sha256"], len(f.Hashes) > 0); err != nil {
			return err
		}
	}
	return nil
}

// html reads a page as a browser's tokenizer would: attributes in any quoting,
// character references, comments, scripts that only look like tags.
func (p *page) html(body []byte) error {
	z := html.NewTokenizer(bytes.NewReader(body))
	z.SetMaxBuf(maxTag)
	var link *html.Token // the last <a>, until its text came
	for {
		kind := z.Next()
		if kind == html.TextToken && link != nil {
			if err := p.link(*link, html.UnescapeString(string(z.Raw()))); err != nil {
				return err
			}
			link = nil
		}
		switch kind {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return fmt.Errorf("the page is not the HTML of a simple index: %w", err)
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			switch tag.DataAtom {
			case atom.Meta:
				if name, _ := attribute(tag, "name"); !strings.EqualFold(name, "pypi:repository-version") {
					continue
				}
				content, _ := attribute(tag, "content")
				if err := apiVersion(content); err != nil {
					return err
				}
			case atom.Base:
				href, _ := attribute(tag, "href")
				if u, err := p.base.Parse(href); err == nil {
					p.base = u
				}
			case atom.A:
				link = &tag
			}
		}
	}
}

// attribute is the value of a tag's attribute; the first of a name counts.
func attribute(tag html.Token, name string) (value string, found bool) {
	a, found := xslices.Find(tag.Attr, func(a html.Attribute) bool { return a.Namespace == "" && a.Key == name })
	return a.Val, found
}

// link keeps the file that <a href=…>text</a> stands for.
func (p *page) link(tag html.Token, text string) error {
	href, ok := attribute(tag, "href")
	if !ok {
		return nil
	}
	address, fragment, _ := strings.Cut(href, "#")
	kind, hash, _ := strings.Cut(fragment, "=")
	if kind != "sha256" {
		hash = ""
	}
	file := File{Name: strings.TrimSpace(text), URL: address}
	file.RequiresPython, _ = attribute(tag, "data-requires-python")
	file.Uploaded, _ = attribute(tag, "data-upload-time")
	_, file.Yanked = attribute(tag, "data-yanked")
	for _, name := range []string{"data-core-metadata", "data-dist-info-metadata"} {
		v, ok := attribute(tag, name)
		if !ok || v == "false" {
			continue
		}
		file.HasMetadata = true
		if kind, sum, ok := strings.Cut(v, "="); ok && kind == "sha256" {
			file.MetadataSHA256 = p.sha256(file.Name+".metadata", sum, true)
		}
		break
	}
	return p.add(file, hash, fragment != "")
}

// add keeps a file whose name and address can be used.
func (p *page) add(f File, hash string, anyHash bool) error {
	if len(p.Files) >= maxFiles {
		return fmt.Errorf("the page lists more than %d files", maxFiles)
	}
	if !plainName(f.Name) {
		p.note("a file with an odd name was left out: %s", shown(f.Name))
		return nil
	}
	u, err := p.base.Parse(f.URL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		p.note("%s: its address cannot be used", f.Name)
		return nil
	}
	if p.base.Scheme == "https" && u.Scheme == "http" {
		p.note("%s: left out, its address drops from https to http", f.Name)
		return nil
	}
	u.Fragment, u.User = "", nil
	f.URL = u.String()
	f.SHA256 = p.sha256(f.Name, hash, anyHash)
	f.Size = max(f.Size, 0)
	f.RequiresPython, f.Uploaded = shown(f.RequiresPython), shown(f.Uploaded)
	p.Files = append(p.Files, f)
	return nil
}

// sha256 returns a usable hash or "" with a note.
func (p *page) sha256(name, s string, anyHash bool) string {
	switch l := strings.ToLower(s); {
	case IsSHA256(l):
		return l
	case s != "":
		p.note("%s: its sha256 on the page is not one", shown(name))
	case anyHash:
		p.note("%s: the page gives a hash, but no sha256", shown(name))
	}
	return ""
}

// apiVersion refuses another major version of the simple API (PEP 629).
func apiVersion(s string) error {
	if s == "" || s == "1" || strings.HasPrefix(s, "1.") {
		return nil
	}
	return fmt.Errorf("the index speaks version %s of the simple API; this envfix reads 1.x", shown(s))
}

// IsSHA256 reports whether s is a sha256 in lower-case hexadecimal.
func IsSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func plainName(s string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+!-"
	return s != "" && len(s) <= 300 && s[0] != '.' && s[0] != '-' && strings.Trim(s, characters) == ""
}

// shown is text from outside as it may stand in a message.
func shown(s string) string { return text.Clip(s, 120) }
