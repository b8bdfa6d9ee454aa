package main

import (
	"os"
	"sync"
	"testing"

	"envfix/internal/system"
)

// What an installation of real torch asks for where it begins, with its cache: by uv,
// which links from its cache, and by pip, which unpacks beside it.
const (
	diskByUV  = 8 << 30
	diskByPip = 13 << 30
)

// promised is the disk that running tests were promised, in bytes: side by side with
// others some need more than a small machine has free.
var promised struct {
	sync.Mutex
	bytes   int64
	holders int
	done    *sync.Cond
}

// takeDisk waits until that many bytes are free beside what other tests were promised,
// or until no other test holds any. It is called before the test makes a directory, so
// that they are given back after all is removed.
func takeDisk(t *testing.T, bytes int64) {
	t.Helper()
	p := &promised
	p.Lock()
	defer p.Unlock()
	if p.done == nil {
		p.done = sync.NewCond(p)
	}
	for p.holders > 0 {
		free, _, err := system.Free(os.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if int64(free)-p.bytes >= bytes {
			break
		}
		p.done.Wait()
	}
	p.bytes, p.holders = p.bytes+bytes, p.holders+1
	t.Cleanup(func() {
		p.Lock()
		defer p.Unlock()
		p.bytes, p.holders = p.bytes-bytes, p.holders-1
		p.done.Broadcast()
	})
}
