package lock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bind checks a profile's pylock file against the lock: its digest first, then
// that both speak of the same torch, Python, size and hosts. allowed says which
// hosts files may come from; it is the user's and the matrix's word, never the
// lock's own.
func (p *Profile) Bind(pylock []byte, allowed func(host string) bool) (*Packages, error) {
	if got := Sum(pylock); got != p.Pylock.SHA256 {
		return nil, fmt.Errorf("%s: its sha256 is %s, the lock says %s", p.Pylock.File, got, p.Pylock.SHA256)
	}
	k, err := DecodePylock(pylock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Pylock.File, err)
	}
	if err := p.agrees(k); err != nil {
		return nil, fmt.Errorf("%s and %s disagree: %w", File, p.Pylock.File, err)
	}
	for _, h := range k.Hosts() {
		if !allowed(h) {
			return nil, fmt.Errorf("%s: files from %s, which is neither an index of the matrix nor one that you allowed", p.Pylock.File, clean(h))
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
		return fmt.Errorf("torch %s in one, %s in the other", p.Torch, clean(torch.Version))
	case k.RequiresPython != "=="+p.Python+".*":
		return fmt.Errorf("Python %s in one, %s in the other", p.Python, clean(k.RequiresPython))
	case !slices.Equal(k.Hosts(), p.Hosts):
		return fmt.Errorf("hosts %s in one, %s in the other", strings.Join(p.Hosts, " "), strings.Join(k.Hosts(), " "))
	case k.Download() != p.Size.Download:
		return fmt.Errorf("%d bytes to receive in one, %d in the other", p.Size.Download, k.Download())
	}
	for _, i := range p.Indexes {
		if q := k.Find(i.Package); q == nil || q.Index != i.URL {
			return fmt.Errorf("the index of %s", clean(i.Package))
		}
	}
	return nil
}

// Download returns the bytes to receive: the largest wheel of each package.
func (p *Packages) Download() int64 {
	var sum int64
	for _, k := range p.Packages {
		var most int64
		for _, w := range k.Wheels {
			most = max(most, w.Size)
		}
		sum += most
	}
	return sum
}

// Requirements returns a requirements file that pins every package to its wheels
// by SHA-256, for installers that do not read pylock. Each line names the file's
// own URL, so no index is asked; from replaces URL prefixes by a mirror's. In a
// bundle, files are found by name: the lines then carry versions.
func (p *Packages) Requirements(mirror func(url string) string) string {
	var b strings.Builder
	for _, k := range p.Packages {
		if k.Wheels[0].URL != "" && len(k.Wheels) == 1 {
			fmt.Fprintf(&b, "%s @ %s", k.Name, mirror(k.Wheels[0].URL))
		} else {
			fmt.Fprintf(&b, "%s==%s", k.Name, k.Version)
		}
		for _, w := range k.Wheels {
			fmt.Fprintf(&b, " \\\n    --hash=sha256:%s", w.Hashes.SHA256)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
