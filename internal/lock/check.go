package lock

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/text"
)

// Bind checks a profile's pylock file against the lock: its digest first, then
// that both speak of the same torch, Python, size and hosts. index says which
// indexes packages may come from beside the default one, and file at which addresses
// their files may lie; it is the matrix's and the user's word, never the lock's own.
func (p *Profile) Bind(pylock []byte, index, file func(address string) bool) (*Packages, error) {
	if got := Sum(Text(pylock)); got != p.Pylock.SHA256 {
		return nil, fmt.Errorf("%s: its sha256 is %s, the lock says %s", p.Pylock.File, got, p.Pylock.SHA256)
	}
	k, err := DecodePylock(pylock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Pylock.File, err)
	}
	if err := p.agrees(k); err != nil {
		return nil, fmt.Errorf("%s and %s disagree: %w", File, p.Pylock.File, err)
	}
	for _, q := range k.Packages {
		if q.Index == "" {
			continue
		}
		if !index(q.Index) {
			return nil, fmt.Errorf(
				"%s: %s comes from %s, which is neither an index of the matrix nor a mirror that you named",
				p.Pylock.File,
				q.Name,
				text.Clip(q.Index, 120),
			)
		}
		for _, w := range q.Files() {
			if w.URL != "" && !file(w.URL) {
				return nil, fmt.Errorf(
					"%s: a file of %s lies on %s, which is neither its index's host nor that of a mirror that you named",
					p.Pylock.File,
					q.Name,
					text.Clip(w.Host(), 120),
				)
			}
		}
	}
	return k, nil
}

func (p *Profile) agrees(k *Packages) error {
	torch := k.Find("torch")
	switch {
	case torch == nil:
		return errors.New("torch is missing")
	case torch.Version != p.Torch:
		return fmt.Errorf("torch %s in one, %s in the other", p.Torch, text.Clip(torch.Version, 120))
	case k.RequiresPython != "=="+p.Python+".*":
		return fmt.Errorf("python %s in one, %s in the other", p.Python, text.Clip(k.RequiresPython, 120))
	case !slices.Equal(k.Hosts(), p.Hosts):
		return fmt.Errorf("hosts %s in one, %s in the other", strings.Join(p.Hosts, " "), strings.Join(k.Hosts(), " "))
	case k.Download() != p.Size.Download:
		return fmt.Errorf("%d bytes to receive in one, %d in the other", p.Size.Download, k.Download())
	}
	for _, i := range p.Indexes {
		if q := k.Find(i.Package); q == nil || q.Index != i.URL {
			return fmt.Errorf("the index of %s", text.Clip(i.Package, 120))
		}
	}
	return nil
}

// Download returns the bytes to receive: the largest file of each package.
func (p *Packages) Download() int64 {
	var sum int64
	for _, k := range p.Packages {
		var most int64
		for _, w := range k.Files() {
			if w.URL != "" {
				most = max(most, w.Size)
			}
		}
		sum += most
	}
	return sum
}

// Requirements returns a requirements file that pins every package by SHA-256,
// for installers that do not read pylock. A package of the default index is named
// by its version, so that it comes from the installer's own default index or its
// mirror and never from a host that a lock names; one with an index of its own is
// named by its URL, which fetch may replace by a mirror's. With fetch nil, every
// package is named by its version: the files then lie in a folder. home is the folder of the
// lock, for files beside it. What has no file is left out: see
// [Package.SourceLine].
func (p *Packages) Requirements(home string, fetch func(url string) string) string {
	var b strings.Builder
	for _, k := range p.Packages {
		files := k.Files()
		switch {
		case len(files) == 0:
			continue // see Package.SourceLine
		case k.Archive != nil && k.Archive.Path != "":
			fmt.Fprintf(&b, "%s @ file://%s/%s", k.Name, strings.TrimSuffix(home, "/"), k.Archive.Path)
		case (k.Index != "" || k.Archive != nil) && fetch != nil:
			fmt.Fprintf(&b, "%s @ %s", k.Name, fetch(files[0].URL))
		default:
			fmt.Fprintf(&b, "%s==%s", k.Name, k.Version)
		}
		for _, w := range files {
			fmt.Fprintf(&b, " \\\n    --hash=sha256:%s", w.Hashes.SHA256)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Rest says how to install what a hashed requirements file cannot hold, as its last
// lines; "" there is nothing.
func (p *Packages) Rest() string {
	var b strings.Builder
	for _, k := range p.Packages {
		if line := k.SourceLine("."); line != "" {
			b.WriteString(say.If(b.Len() == 0, "# A file of hashes cannot hold folders and repositories. Then:\n"))
			where := say.Either(k.Directory != nil, line, "'"+line+"'")
			fmt.Fprintf(&b, "#   python -m pip install --no-deps %s\n", where)
		}
	}
	return b.String()
}

// Files returns the files of all packages, in the order of the lock.
func (p *Packages) Files() []Wheel {
	return slices.Concat(text.Each(p.Packages, Package.Files)...)
}
