package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	rest := " S 10 1 1 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 1234 1000000 512 18446744073709551615 1 1 0 0 0"
	tests := []struct {
		in, name string
		bad      bool
	}{
		{"1 (python)" + rest, "python", false},
		{"1 (a b) c) (d)" + rest, "a b) c) (d", false},
		{"1 (evil\x1b[31m\nname)" + rest, "evil\x1b[31m\nname", false},
		{"1 ()" + rest, "", false},
		{"1 (python) S 1", "", true},
		{"1 python S 1", "", true},
		{"", "", true},
		{"1 (x)" + strings.Replace(rest, "150", "-3", 1), "", true},
	}
	for _, tt := range tests {
		s, err := ParseStat([]byte(tt.in))
		if (err != nil) != tt.bad {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if tt.bad {
			continue
		}
		want := Stat{Name: []byte(tt.name), State: 'S', Parent: 10, Group: 1, CPU: 2, Threads: 9, Start: 1234, RSS: int64(512 * os.Getpagesize() >> 20)}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%q: %s", tt.in, diff)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (python) S 10 1 1 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 1234 1000000 512 1 1 1 0 0 0"))
	f.Add([]byte("1 )( S"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseStat(b)
		if err == nil && (s.CPU < 0 || s.Parent < 0 || s.RSS < 0) {
			t.Errorf("%+v", s)
		}
	})
}

// TestRoot reads a /proc that lies below another root: of processes that are there
// in part, what is there.
func TestRoot(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/7/comm": "a b\n", "proc/7/cmdline": "python\x00\x00-c\x00x\x00", "proc/7/environ": "A=1\x00B=\x00",
		"proc/7/maps":     "00400000-00452000 r-xp 00000000 08:02 1 /opt/lib a.so\n7f00-7f01 rw-p 0 0:0 0 [heap]\n",
		"proc/70/cmdline": "", "proc/self/comm": "x\n", "etc/passwd": "root:x:0:0::/:/bin/sh\nanna:x:1234:1::/:/bin/sh\nbroken\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.MkdirAll(root+"/proc/7/fd", 0o755)
	os.MkdirAll(root+"/proc/self/ns", 0o755)
	if err := os.Symlink("/dev/nvidia0", root+"/proc/7/fd/3"); err != nil {
		t.Skip(err)
	}
	os.Symlink("pid:[4026531836]", root+"/proc/self/ns/pid")
	os.Symlink("/opt/bin/python", root+"/proc/7/exe")
	r := Root(root)
	p, gone := r.Of(7), r.Of(8)
	anna, _ := r.UserName(1234)
	_, known := r.UserName(99)
	got := []any{r.PIDs(), r.HostPIDs(), p.Name(), p.Args(), p.Env(), p.Link("exe"), slices.Collect(p.Files()), slices.Collect(p.Mapped()), anna, known}
	want := []any{[]int{7, 70}, true, "a b", []string{"python", "", "-c", "x"}, []string{"A=1", "B="}, "/opt/bin/python", []string{"/dev/nvidia0"}, []string{"/opt/lib a.so"}, "anna", false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, ok := gone.Stat()
	none := []any{gone.Name(), gone.Args(), gone.Link("exe"), slices.Collect(gone.Files()), slices.Collect(gone.Mapped()), ok, r.Of(70).Args(), Root(root + "/no").PIDs(), Root(root + "/no").HostPIDs()}
	if diff := cmp.Diff([]any{"", []string(nil), "", []string(nil), []string(nil), false, []string(nil), []int(nil), false}, none); diff != "" {
		t.Error(diff)
	}
}

// TestSelf finds this process, its owner and what started it.
func TestSelf(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	p := Self.Of(os.Getpid())
	s, ok := p.Stat()
	if uid, _ := Owner(string(p)); !ok || s.Parent != os.Getppid() || uid != os.Getuid() || !slices.Contains(Self.PIDs(), os.Getpid()) {
		t.Errorf("%+v", s)
	}
	if got := Self.Descendants(os.Getppid(), true, 100); !slices.Contains(got, os.Getpid()) {
		t.Errorf("%v", got)
	}
}

// Arguments may hold secrets; the script or module of an interpreter is enough.
func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/python3.12 -u train.py --key secret":  "python3.12 train.py",
		"python -m vllm.entrypoints.openai --api-key x": "python -m vllm.entrypoints.openai",
		"python -W ignore /srv/run.py":                  "python run.py",
		"python -c import\u00a0torch":                   "python -c …",
		"/opt/app/server --password x":                  "server",
		"bash -l":                                       "bash",
		"":                                              "",
	} {
		if got := Command(strings.Split(line, " ")); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
