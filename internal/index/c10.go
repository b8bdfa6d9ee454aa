package index

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"path"
	"slices"
	"strings"

	"envfix/internal/version"
	"envfix/internal/xslices"
)

// exports are the symbols that torch's smallest libraries, libc10 and libc10_cuda, have in
// one release: few, and a wheel that is compiled against torch wants some that come and go.
type exports struct {
	torch   version.Python
	symbols map[string]bool
}

const maxC10 = 64 << 20

// readExports reads those of the last release of every minor, the newest first.
func (c *Client) readExports(ctx context.Context) ([]exports, error) {
	page, err := c.Project(ctx, "torch")
	if errors.Is(err, ErrNotFound) {
		return nil, nil // an index of other packages: nothing is known of torch
	}
	if err != nil {
		return nil, err
	}
	versions, files := releasesOf(page)
	versions = slices.CompactFunc(versions, func(a, b version.Python) bool { return version.Minor(a.String()) == version.Minor(b.String()) })
	all, err := Each(ctx, len(versions), func(ctx context.Context, i int) (exports, error) {
		e := exports{torch: versions[i], symbols: map[string]bool{}}
		f, ok := xslices.Find(files[versions[i].String()], func(f File) bool { return strings.Contains(f.Name, "x86_64") && strings.Contains(f.Name, "linux") })
		if !ok {
			return e, nil
		}
		w, err := c.Open(ctx, f)
		if err != nil {
			return e, err
		}
		for _, name := range w.shared() {
			if base := path.Base(name); base == "libc10.so" || base == "libc10_cuda.so" {
				b, err := w.Read(ctx, name, maxC10)
				if err != nil {
					return e, err
				}
				for _, s := range dynamic(b, false) {
					e.symbols[s] = true
				}
			}
		}
		return e, nil
	}, nil)
	return xslices.Filter(all, func(e exports) bool { return len(e.symbols) > 0 }), err
}

// dynamic are the symbols of c10 that a library defines, or those that it wants.
func dynamic(library []byte, wanted bool) (names []string) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return nil
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		if (s.Section == elf.SHN_UNDEF) == wanted && (!wanted || elf.ST_BIND(s.Info) != elf.STB_WEAK) && strings.Contains(s.Name, "3c10") {
			names = append(names, s.Name)
		}
	}
	return names
}

// beside are the releases of torch that have what a wheel wants of c10, of what any of them
// has: ">=2.8,<2.9"; "" all have it.
func beside(all []exports, wants []string) string {
	wants = xslices.Filter(wants, func(s string) bool {
		return slices.ContainsFunc(all, func(e exports) bool { return e.symbols[s] })
	})
	has := func(e exports) bool {
		return !slices.ContainsFunc(wants, func(s string) bool { return !e.symbols[s] })
	}
	newest := slices.IndexFunc(all, has)
	if newest < 0 || len(wants) == 0 {
		return ""
	}
	oldest := newest
	for oldest+1 < len(all) && has(all[oldest+1]) {
		oldest++
	}
	var out []string
	if oldest+1 < len(all) {
		out = append(out, ">="+version.Minor(all[oldest].torch.String()))
	}
	if newest > 0 {
		out = append(out, "<"+version.Minor(all[newest-1].torch.String()))
	}
	return strings.Join(out, ",")
}
