package platform

import (
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/probe/sysroot"
)

// TestSearch: the mark may lie in the last part of the file, before it, or in both.
func TestSearch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "libc.so.6")
	const lastPart = 384 << 10
	const size = lastPart + 210000 // the last part is looked at first
	for _, at := range []int{0, 65535, 65536, 66000, 66048, 200000, size - lastPart - 5, size - lastPart, size - 100} {
		data := make([]byte, size)
		copy(data[at:], "GNU C Library (GNU libc) stable release version 2.34.")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if v := bannerVersion(sysroot.Search(file, []byte(glibcBanner))); v != "2.34" {
			t.Errorf("at byte %d: %q", at, v)
		}
	}
}
