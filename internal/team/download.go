package team

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"envfix/internal/lock"
	"envfix/internal/reach"
	"envfix/internal/version"
	"envfix/matrix"

	"golang.org/x/sync/errgroup"
)

// maxWheel is the largest file that is read for its hash, in bytes; torch's
// largest wheel so far has 3.0e9.
const maxWheel = 8 << 30

// fileFacts completes what an index did not say of its files, each file once.
type fileFacts struct {
	allowed   reach.Allowed // where files may be fetched from
	transport *http.Transport
	mirror    func(url string) string // where a URL is really fetched
	login     *credentials
	came      func(n int64)   // is told of bytes that are saved; nil: nobody listens
	wrong     []matrix.Defect // files whose index is known to give a wrong hash
	mu        sync.Mutex
	known     map[string]func() (lock.Wheel, error) // by URL: its size and its hash, asked once
}

// newFileFacts reads from where is allowed and the mirrors say, with the credentials that uv uses, and reads whole the
// files that the matrix knows wrong hashes of.
func newFileFacts(m *matrix.Matrix, u uvTool, allowed reach.Allowed) *fileFacts {
	wrong := slices.DeleteFunc(slices.Clone(m.Defects), func(d matrix.Defect) bool { return d.Breaks != "hash" })
	t := reach.Transport()
	t.MaxConnsPerHost = 8
	t.ResponseHeaderTimeout = 30 * time.Second
	return &fileFacts{
		allowed:   allowed,
		transport: t,
		mirror:    u.mirrors.There,
		login:     newCredentials(u.tied, u.index, allowed),
		wrong:     wrong,
		known:     map[string]func() (lock.Wheel, error){},
	}
}

// said allows what the installer answered: the files of its default index lie where that
// index says, and no login of the user's goes there but one for that very host.
func (f *fileFacts) said(packages []lock.Package) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range packages {
		for _, w := range k.Files() {
			f.allowed = f.allowed.Files(f.mirror(w.URL))
		}
	}
}

// complete fills in missing sizes by HEAD requests, and missing hashes from the
// files' own bytes. An entry without a hash is never written.
func (f *fileFacts) complete(ctx context.Context, packages []lock.Package) error {
	return InParallel(len(packages), len(packages), func(i int) error {
		k := packages[i]
		wrong := f.distrusted(k)
		for j, w := range k.Files() {
			if wrong {
				w.Hashes.SHA256 = ""
			}
			if err := f.wheel(ctx, &w); err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			k.Complete(j, w)
		}
		return nil
	})
}

// InParallel calls f for 0 to n-1, at most so many at a time, and returns the first
// error in that order.
func InParallel(n, most int, f func(i int) error) error {
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(max(1, most))
	for i := range n {
		g.Go(func() error {
			errs[i] = f(i)
			return nil // all are tried: which error is first does not depend on the speed of servers
		})
	}
	_ = g.Wait()
	return cmp.Or(errs...)
}

// distrusted reports whether an index is known to give a wrong hash for a package.
func (f *fileFacts) distrusted(k lock.Package) bool {
	v := version.Public(k.Version)
	return slices.ContainsFunc(f.wrong, func(d matrix.Defect) bool { return d.Package == k.Name && d.Versions.Admits(v) })
}

func (f *fileFacts) wheel(ctx context.Context, w *lock.Wheel) error {
	if w.Size > 0 && w.Hashes.SHA256 != "" {
		return nil
	}
	f.mu.Lock()
	ask := f.known[w.URL]
	if ask == nil {
		hashed, url := w.Hashes.SHA256 != "", w.URL
		ask = sync.OnceValues(func() (of lock.Wheel, err error) {
			if hashed {
				of.Size, err = f.size(ctx, url)
			} else {
				of.Size, of.Hashes.SHA256, err = f.read(ctx, url)
			}
			return of, err
		})
		f.known[url] = ask
	}
	f.mu.Unlock()
	of, err := ask()
	if err != nil {
		return err
	}
	w.Size = of.Size
	w.Hashes.SHA256 = cmp.Or(w.Hashes.SHA256, of.Hashes.SHA256)
	return nil
}

// size asks for a file's length without receiving it.
func (f *fileFacts) size(ctx context.Context, url string) (int64, error) {
	resp, err := f.do(ctx, http.MethodHead, url)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	if resp.ContentLength <= 0 {
		size, _, err := f.read(ctx, url)
		return size, err
	}
	return resp.ContentLength, nil
}

// read receives a whole file and returns its length and SHA-256; nothing is kept.
func (f *fileFacts) read(ctx context.Context, url string) (int64, string, error) {
	resp, err := f.do(ctx, http.MethodGet, url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(resp.Body, maxWheel+1))
	switch {
	case err != nil:
		return 0, "", err
	case n > maxWheel:
		return 0, "", fmt.Errorf("it has more than %d GiB, which no wheel has", maxWheel>>30)
	case resp.ContentLength > 0 && n != resp.ContentLength:
		return 0, "", fmt.Errorf("%d of %d bytes arrived", n, resp.ContentLength)
	}
	return n, hex.EncodeToString(h.Sum(nil)), nil
}

func (f *fileFacts) do(ctx context.Context, method, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.mirror(url), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	f.login.login(ctx, req)
	f.mu.Lock()
	allowed := f.allowed
	f.mu.Unlock()
	resp, err := allowed.Client(f.transport).Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("the index answers %s", resp.Status)
	}
	return resp, nil
}
