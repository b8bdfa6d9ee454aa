package index

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/text"
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
		err = p.html(string(body))
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

func (p *page) html(body string) error {
	for tag := range tags(body) {
		switch tag.name {
		case "meta":
			if strings.EqualFold(tag.attr["name"], "pypi:repository-version") {
				if err := apiVersion(tag.attr["content"]); err != nil {
					return err
				}
			}
		case "base":
			if u, err := p.base.Parse(tag.attr["href"]); err == nil {
				p.base = u
			}
		case "a":
			href, ok := tag.attr["href"]
			if !ok {
				continue
			}
			address, fragment, _ := strings.Cut(href, "#")
			kind, hash, _ := strings.Cut(fragment, "=")
			if kind != "sha256" {
				hash = ""
			}
			file := File{Name: strings.TrimSpace(tag.text), URL: address, RequiresPython: tag.attr["data-requires-python"], Uploaded: tag.attr["data-upload-time"]}
			_, file.Yanked = tag.attr["data-yanked"]
			for _, name := range []string{"data-core-metadata", "data-dist-info-metadata"} {
				v, ok := tag.attr[name]
				if !ok || v == "false" {
					continue
				}
				file.HasMetadata = true
				if kind, sum, ok := strings.Cut(v, "="); ok && kind == "sha256" {
					file.MetadataSHA256 = p.sha256(file.Name+".metadata", sum, true)
				}
				break
			}
			if err := p.add(file, hash, fragment != ""); err != nil {
				return err
			}
		}
	}
	return nil
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
	if f.Size < 0 {
		f.Size = 0
	}
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
	const rest = "._+!-"
	if s == "" || len(s) > 300 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(rest, r)) {
			return false
		}
	}
	return true
}

// shown is text from outside as it may stand in a message.
func shown(s string) string { return text.Clip(s, 120) }

// A tag is one opening tag of an HTML page and the text behind it.
type tag struct {
	name string // lower case
	attr map[string]string
	text string // up to the next tag
}

// tags yields the opening tags of a page. It reads as much of HTML as the
// simple API uses: attributes in any quoting, character references, comments.
func tags(s string) func(func(tag) bool) {
	return func(yield func(tag) bool) {
		for {
			i := strings.IndexByte(s, '<')
			if i < 0 {
				return
			}
			s = s[i+1:]
			if strings.HasPrefix(s, "!--") {
				end := strings.Index(s, "-->")
				if end < 0 {
					return
				}
				s = s[end+3:]
				continue
			}
			n := 0
			for n < len(s) && ('a' <= s[n]|0x20 && s[n]|0x20 <= 'z' || '0' <= s[n] && s[n] <= '9') {
				n++
			}
			if n == 0 {
				continue
			}
			t := tag{name: strings.ToLower(s[:n])}
			t.attr, s = attributes(s[n:])
			text, _, _ := strings.Cut(s, "<")
			t.text = html.UnescapeString(text)
			if !yield(t) {
				return
			}
		}
	}
}

// attributes reads up to the ">" of a tag and returns what follows it.
func attributes(s string) (map[string]string, string) {
	attr := map[string]string{}
	for {
		s = strings.TrimLeft(s, " \t\r\n\f/")
		if s == "" {
			return attr, ""
		}
		if s[0] == '>' {
			return attr, s[1:]
		}
		n := strings.IndexAny(s[1:], "= \t\r\n\f/>") + 1
		if n == 0 {
			return attr, ""
		}
		name := strings.ToLower(s[:n])
		s = strings.TrimLeft(s[n:], " \t\r\n\f")
		value := ""
		if strings.HasPrefix(s, "=") {
			value, s = attributeValue(strings.TrimLeft(s[1:], " \t\r\n\f"))
		}
		if _, twice := attr[name]; !twice && len(attr) < 100 {
			attr[name] = html.UnescapeString(value)
		}
	}
}

func attributeValue(s string) (value, rest string) {
	if s == "" {
		return "", ""
	}
	if q := s[0]; q == '"' || q == '\'' {
		if end := strings.IndexByte(s[1:], q); end >= 0 {
			return s[1 : 1+end], s[2+end:]
		}
		return s[1:], ""
	}
	n := strings.IndexAny(s, " \t\r\n\f>")
	if n < 0 {
		return s, ""
	}
	return s[:n], s[n:]
}
