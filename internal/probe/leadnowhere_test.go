package probe

import (
	"os"
	"slices"
	"testing"

	"envfix/internal/probe/sysroot"
	"envfix/internal/testenv"
)

// A compiler is looked for as a shell does; what only the working directory tells is left.
func TestLeadNowhere(t *testing.T) {
	root := testenv.Tree(t, map[string]string{"usr/bin/gcc": "", "opt/gcc/bin/g++": ""})
	for _, name := range []string{"/usr/bin/gcc", "/opt/gcc/bin/g++"} {
		if err := os.Chmod(root+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for value, gone := range map[string]bool{"gcc": false, "gcc -m64": false, "/opt/gcc/bin/g++": false, "./cc": false, "": false, "gcc-13": true, "/opt/gcc-13/bin/gcc": true} {
		h := sysroot.New(sysroot.Options{Root: root, OS: "linux", Env: []string{"PATH=/usr/bin", "CC=" + value}})
		if got := slices.Contains(leadNowhere(h), "CC is not there"); got != gone {
			t.Errorf("CC=%q: %v", value, got)
		}
	}
}
