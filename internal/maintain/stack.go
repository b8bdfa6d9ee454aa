package maintain

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"envfix/internal/index"
	"envfix/internal/system"
	"envfix/internal/xslices"
	"envfix/matrix"
)

// proveStack proves the libraries that the builds proven so far pin.
// The second error is that what was read could not be kept.
func proveStack(ctx context.Context, x *Index, m *matrix.Matrix, q ProveQuery, proofs []index.Proof) (more []index.Proof, kept, err error) {
	builds := offeredBuilds(q, m)
	for _, p := range proofs {
		if b, ok := m.BuildOf(p.Torch, p.Build, p.OS, p.Arch); ok && p.By == "bytes" && !b.CUDA.IsZero() {
			builds = append(builds, b)
		}
	}
	if len(builds) == 0 {
		return nil, nil, nil
	}
	cache, failed := counted()
	more, err = x.ProveStack(ctx, m, builds, index.StackOptions{Cache: cache, Missing: q.Missing, Progress: q.Progress})
	if err != nil {
		return nil, failed(), unreadable(err, "what was read so far is kept; the same command goes on from there")
	}
	return more, failed(), nil
}

// offeredBuilds are, with --missing, all builds whose libraries somebody may
// install; without it only those that were proven count.
func offeredBuilds(q ProveQuery, m *matrix.Matrix) []*matrix.Build {
	if !q.Missing {
		return nil
	}
	var builds []*matrix.Build
	for _, r := range m.Releases {
		for _, b := range r.Builds {
			if (q.Torch.IsZero() || q.Torch.Admits(r.Torch)) && b.OS == "linux" && !b.CUDA.IsZero() && b.Status == matrix.Offered &&
				(q.Arch == "" || b.Arch == q.Arch) {
				builds = append(builds, b)
			}
		}
	}
	return builds
}

// recordLibraries adds rows for libraries that nobody had read to the stack.yaml
// of a data directory.
func recordLibraries(dir string, proofs []index.Proof, today string) error {
	m, err := loadDir(dir)
	if err != nil {
		return err
	}
	rows := xslices.Filter(m.Libraries, func(l matrix.Library) bool { return strings.HasPrefix(l.Source, "data/"+matrix.StackFile+":") })
	for _, p := range proofs {
		if p.Library == nil {
			continue
		}
		if _, known := m.Library(p.Library.Package, p.Library.Version.String(), p.Library.Major, p.Library.Arch); !known {
			rows = append(rows, *p.Library)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return writeData(dir, matrix.StackFile, matrix.EncodeLibraries(rows, today))
}

// counted keeps what was counted in libraries, each in a small file of the user's cache;
// failed is the first failure to keep something.
func counted() (cache index.Cache, failed func() error) {
	var mu sync.Mutex
	dir, first := os.UserCacheDir()
	if first == nil {
		dir = filepath.Join(dir, "envfix", "fatbins")
	}
	cache.Load = func(sha256, member string) (found index.Fatbins, ok bool) {
		if kept := system.Kept[index.Fatbins](dir, system.Key(sha256, member)); kept != nil {
			return *kept, true
		}
		return found, false
	}
	cache.Store = func(sha256, member string, found index.Fatbins) {
		err := system.KeepAnswer(dir, system.Key(sha256, member), found)
		mu.Lock()
		defer mu.Unlock()
		first = cmp.Or(first, err)
	}
	return cache, func() error { return first }
}
