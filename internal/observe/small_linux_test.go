package observe

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const smaps = `00400000-00411000 r--p 00000000 fe:00 77                         /bin/envfix
Rss:                  64 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me
00411000-00e78000 r-xp 00011000 fe:00 77                                 /bin/envfix a b
Rss:               10236 kB
Anonymous:             0 kB
Swap:                  0 kB
01a81000-01a82000 r--p 01680000 fe:00 77                                 /bin/relocated
Anonymous:             4 kB
Swap:                  0 kB
01a82000-01a83000 r--p 01680000 fe:00 77                                 /bin/swapped
Anonymous:             0 kB
Swap:                  4 kB
01a83000-01aff000 rw-p 01682000 fe:00 77                                 /bin/written
Anonymous:             0 kB
Swap:                  0 kB
01b00000-01b01000 r--s 00000000 fe:00 78                                 /run/shared
Anonymous:             0 kB
Swap:                  0 kB
379493c00000-379494400000 r--p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
Swap:                  0 kB
zz-7 r-xp 00000000 fe:00 77                                              /bin/odd
Anonymous:             0 kB
Swap:                  0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 79                         /lib/no_numbers
`

// TestCleanMappings: what was relocated, may be written or lies in swap is no copy of
// a file.
func TestCleanMappings(t *testing.T) {
	want := []mapping{{0x400000, 0x11000}, {0x411000, 0xa67000}}
	if diff := cmp.Diff(want, cleanMappings(smaps), cmp.AllowUnexported(mapping{})); diff != "" {
		t.Error(diff)
	}
}

// TestShrink: a program that let go of its code goes on.
func TestShrink(t *testing.T) {
	if os.Getenv("ENVFIX_TEST_SHRINK") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestShrink$")
		cmd.Env = append(os.Environ(), "ENVFIX_TEST_SHRINK=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	data, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	if len(cleanMappings(string(data))) == 0 {
		t.Errorf("nothing to let go of in\n%s", data)
	}
	for range 3 {
		Shrink()
	}
	if len(sources()) == 0 {
		t.Error("the program's own tables are lost")
	}
}
