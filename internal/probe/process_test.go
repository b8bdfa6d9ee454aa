package probe

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"envfix/internal/testenv"

	"github.com/google/go-cmp/cmp"
)

const aStat = "77 (python3) S 10 1 1 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 1234 1000000 512 18446744073709551615 1 1 0 0 0"

// running is a machine on which process 77 runs torch of /srv/env, and 78 a shell.
func running(t *testing.T) string {
	site := "/srv/env/lib/python3.12/site-packages"
	maps := func(files ...string) string {
		out := "7f00-7f01 rw-p 00000000 00:00 0 \n"
		for _, f := range files {
			out += "7f00-7f01 r-xp 00000000 fe:00 12   " + f + "\n"
		}
		return out
	}
	return testenv.Tree(t, map[string]string{
		"etc/passwd":          "me:x:1000:1000::/home/me:/bin/sh\n",
		"proc/77/stat":        aStat,
		"proc/77/cmdline":     "python3\x00train.py\x00--token\x00secret\x00",
		"proc/77/environ":     "PATH=/srv/env/bin:/usr/bin\x00CUDA_VISIBLE_DEVICES=\x00HOME=/home/me\x00",
		"proc/77/exe":         "-> /usr/bin/python3.12",
		"proc/77/cwd":         "-> /srv",
		"proc/77/cgroup":      "0::/system.slice/train.service\n",
		"proc/77/fd/3":        "-> /dev/nvidia0",
		"proc/77/fd/4":        "-> /dev/null",
		"proc/77/maps":        maps(site+"/torch/lib/libtorch_cuda.so", site+"/torch/lib/libc10.so (deleted)", "/usr/lib/libcuda.so.550.54.15 (deleted)", "/tmp/data.bin"),
		"proc/78/stat":        strings.Replace(aStat, "77 (python3)", "78 (sh)", 1),
		"proc/78/cmdline":     "sh\x00-c\x00python3 train.py\x00",
		"proc/78/environ":     "PATH=/usr/bin\x00",
		"proc/78/exe":         "-> /usr/bin/dash",
		"usr/bin/python3":     "",
		"srv/env/bin/python3": "",
		"srv/env/pyvenv.cfg":  "home = /usr/bin\nversion = 3.12.4\n",
		"srv/env/lib/python3.12/site-packages/torch/__init__.py": "",
		"etc/systemd/system/train.service":                       "[Service]\nEnvironment=LD_LIBRARY_PATH=/opt/cuda\n",
	})
}

// A process tells its environment by the libraries that it has mapped, and which of
// them are gone.
func TestProcess(t *testing.T) {
	root := running(t)
	if err := os.Chmod(root+"/srv/env/bin/python3", 0o755); err != nil {
		t.Fatal(err)
	}
	o, r, err := Process(Options{Root: root, OS: "linux", Env: []string{"VIRTUAL_ENV=/elsewhere"}}, 77)
	if err != nil {
		t.Fatal(err)
	}
	site := "/srv/env/lib/python3.12/site-packages"
	if r.Command != "python3 train.py" || r.Env != "/srv/env" || r.Unit != "train.service" || !r.Torch || !r.CUDA || r.Driver != "550.54.15" {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff([]string{site + "/torch/lib/libc10.so", "/usr/lib/libcuda.so.550.54.15"}, r.Gone); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/dev/nvidia0"}, r.Devices); diff != "" {
		t.Error(diff)
	}
	m := Gather(t.Context(), o)
	if v, set := m.Env["CUDA_VISIBLE_DEVICES"]; !set || v != "" || len(m.Pythons) == 0 || m.Pythons[0].Path != "/srv/env/bin/python3" {
		t.Errorf("%v %v", m.Env, m.Pythons)
	}
}

func TestNoProcess(t *testing.T) {
	root := running(t)
	if _, _, err := Process(Options{Root: root, OS: "linux"}, 79); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if os.Geteuid() != 0 {
		if _, r, err := Process(Options{OS: "linux"}, 1); !errors.Is(err, fs.ErrPermission) || r == nil {
			t.Error(r, err)
		}
	}
}
