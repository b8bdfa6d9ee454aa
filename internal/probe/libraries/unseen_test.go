package libraries

import (
	"slices"
	"strings"
	"testing"

	"envfix/internal/loader"
	"envfix/internal/probe/sysroot"
)

// TestOpensTheDriver: what the driver's library is opened by, and what opens none.
func TestOpensTheDriver(t *testing.T) {
	for name, want := range map[string][]string{"libcudart.so.12": {"libcuda.so.1"}, "libcudart-d0da41ae.so.11.0": {"libcuda.so.1"}, "libc10_cuda.so": {"libcuda.so.1"}, "libc10.so": nil} {
		if got := openedBy(sysroot.New(sysroot.Options{}), &loader.Object{Name: name}); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestUnseenLinks: each link that was not come by is told, and of more libraries than are followed that they are more.
func TestUnseenLinks(t *testing.T) {
	seen := &loader.Object{}
	for objects, wants := range map[int]string{0: "/py as a program, /t/_C, torch's own module, /t/lib/libtorch_global_deps.so, the C library",
		400: "/py as a program, /t/_C, torch's own module, /t/lib/libtorch_global_deps.so, the C library, what is loaded beyond the first 400 libraries"} {
		l := &linker{View: &loader.View{All: make([]*loader.Object, objects)}, torch: "/t"}
		if got := strings.Join(l.unseen("/py", nil, nil), ", "); got != wants {
			t.Errorf("%d: %s", objects, got)
		}
		l.Program = seen
		if got := strings.Join(l.unseen("/py", seen, seen), ", "); !strings.HasPrefix(got, "the C library") {
			t.Errorf("%d: %s", objects, got)
		}
	}
}
