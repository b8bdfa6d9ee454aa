package maintain

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"envfix/internal/index"
	"envfix/internal/system"
	"envfix/matrix"
)

// proveStack proves the libraries that the builds proven so far pin.
// The second error is that what was read could not be kept.
func proveStack(ctx context.Context, x *Index, m *matrix.Matrix, q ProveQuery, proofs []index.Proof) (more []index.Proof, kept, err error) {
	builds := offeredBuilds(q, m)
	for _, p := range proofs {
		r, ok := m.Release(p.Torch)
		if !ok || p.By != "bytes" {
			continue
		}
		if b, ok := r.Build(p.Build, p.OS, p.Arch); ok && !b.CUDA.IsZero() {
			builds = append(builds, b)
		}
	}
	if len(builds) == 0 {
		return nil, nil, nil
	}
	cache := newFatbinCache()
	more, err = x.ProveStack(ctx, m, builds, index.StackOptions{Cache: cache.functions(), Missing: q.Missing, Progress: q.Progress})
	if err != nil {
		return nil, cache.err, unreadable(err, "what was read so far is kept; the same command goes on from there")
	}
	return more, cache.err, nil
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
	var rows []matrix.Library
	for _, l := range m.Libraries {
		if strings.HasPrefix(l.Source, "data/"+matrix.StackFile+":") {
			rows = append(rows, l)
		}
	}
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

// A fatbinCache keeps counts in one small file per wheel, named by its sha256.
type fatbinCache struct {
	dir string
	mu  sync.Mutex
	err error // the first failure to write
}

// A cachedWheel is such a file.
type cachedWheel struct {
	Format    int                      `json:"format"`
	Libraries map[string]index.Fatbins `json:"libraries"`
}

func newFatbinCache() *fatbinCache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return &fatbinCache{err: err}
	}
	return &fatbinCache{dir: filepath.Join(dir, "envfix", "fatbins")}
}

func (f *fatbinCache) functions() index.Cache {
	if f.dir == "" {
		return index.Cache{}
	}
	return index.Cache{Load: f.load, Store: f.store}
}

func (f *fatbinCache) load(sha256, member string) (index.Fatbins, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.read(sha256).Libraries[member]
	return found, ok
}

// read returns what is kept of a wheel; a file that cannot be read is none.
func (f *fatbinCache) read(sha256 string) cachedWheel {
	w := cachedWheel{Format: 1, Libraries: map[string]index.Fatbins{}}
	file, err := os.Open(filepath.Join(f.dir, sha256+".json"))
	if err != nil {
		return w
	}
	defer file.Close()
	var kept cachedWheel
	if json.NewDecoder(io.LimitReader(file, 1<<20)).Decode(&kept) == nil && kept.Format == 1 && kept.Libraries != nil {
		return kept
	}
	return w
}

func (f *fatbinCache) store(sha256, member string, found index.Fatbins) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.read(sha256)
	w.Libraries[member] = found
	if err := f.write(sha256+".json", w); err != nil && f.err == nil {
		f.err = err
	}
}

func (f *fatbinCache) write(name string, w cachedWheel) error {
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return system.WriteIn(root, name, b, 0o600)
}
