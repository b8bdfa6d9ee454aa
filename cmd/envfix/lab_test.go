//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"envfix/internal/testindex"

	"golang.org/x/sys/unix"
)

// A lab is machines on this one (internal/ci/lab), with stand-in GPUs, an index on
// their loopback and a key to log in with.
type lab struct {
	dir string
	n   int
	x   *testindex.Index
}

// noLab says why there can be no machines here; "" there can.
func noLab() string {
	if os.Geteuid() != 0 {
		return "namespaces with their own root need root"
	}
	for _, p := range []string{"sshd", "ssh", "ssh-keygen", "ip", "unshare"} {
		if _, err := exec.LookPath(p); err != nil {
			return p + " is not installed (openssh-server, iproute2, util-linux)"
		}
	}
	if out, err := exec.Command("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "true").CombinedOutput(); err != nil {
		return "no namespaces here: " + strings.TrimSpace(string(out))
	}
	if out, err := exec.Command("ip", "netns", "add", "efl-try").CombinedOutput(); err != nil {
		return "no network namespaces here: " + strings.TrimSpace(string(out))
	}
	if err := exec.Command("ip", "netns", "del", "efl-try").Run(); err != nil {
		return err.Error()
	}
	return ""
}

// newLab prepares n machines; kind names what node i has, from 1.
func newLab(t *testing.T, n int, kind func(i int) labKind) *lab {
	t.Helper()
	if why := noLab(); why != "" {
		t.Skip(why)
	}
	dir, err := os.MkdirTemp("", "efl") // short: a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{dir: dir, n: n, x: testindex.Serve(t)}
	must(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/id")
	files := dir + "/files/usr/local"
	for _, sub := range []string{files + "/bin", files + "/lib/lab", dir + "/files/opt/envs"} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "cp", testindex.UV(t), files+"/bin/uv")
	must(t, "cp", file(t, standIns, "libnvidia-ml.so.1"), files+"/lib/lab/")
	for i := 1; i <= n; i++ {
		writeText(t, fmt.Sprintf("%s/env.%d", dir, i), kind(i).env())
	}
	return l
}

// A labKind is what a machine has: GPUs of one kind and their driver.
type labKind struct {
	gpu, cc, pci string // "Tesla V100-SXM2-16GB", "7,0", "1db1"; "" no GPU
	driver       string
	loaded       string // the kernel module, where it is another one
	hide         string // what it lacks of this system
}

func (k labKind) env() string {
	out := "HIDE=" + k.hide + "\n"
	if k.gpu == "" {
		return out + "ENVFIX_NVML=off\n"
	}
	out += "ENVFIX_NVML=/usr/local/lib/lab/libnvidia-ml.so.1\n"
	loaded := k.driver
	if k.loaded != "" {
		loaded = k.loaded
		out += "FAKE_NVML_INIT=18\nPCI=" + k.pci + "\n"
	}
	gpu := k.gpu + "," + k.cc
	return out + fmt.Sprintf("FAKE_NVML_DRIVER=%s\nFAKE_NVML_GPUS=%s;%s\nSYSMODULE=%s\n", k.driver, gpu, gpu, loaded)
}

// up starts the machines and lets them reach the index, at the address that it has here.
func (l *lab) up(t *testing.T) {
	t.Helper()
	script, err := filepath.Abs("../../internal/ci/lab")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(script, "down", l.dir).CombinedOutput(); err != nil {
			t.Errorf("lab down: %v\n%s", err, out)
		}
		if err := os.RemoveAll(l.dir); err != nil {
			t.Error(err)
		}
	})
	must(t, script, "up", l.dir, fmt.Sprint(l.n))
	there := strings.TrimPrefix(l.x.Host, "http://")
	for i := 1; i <= l.n; i++ {
		at, err := listenIn(fmt.Sprint("/run/netns/efl", i), there)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { at.Close() })
		go forward(at, there)
	}
}

// listenIn listens in another network namespace: what was opened there stays there.
func listenIn(namespace, address string) (at net.Listener, err error) {
	runtime.LockOSThread() // never unlocked where the way back fails: the thread ends with its goroutine
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer here.Close()
	there, err := os.Open(namespace)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	at, err = net.Listen("tcp", address)
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		return nil, errors.Join(err, back)
	}
	runtime.UnlockOSThread()
	return at, err
}

// forward passes connections on until at is closed.
func forward(at net.Listener, to string) {
	for {
		in, err := at.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			in.Close()
			continue
		}
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			go func() {
				_, _ = io.Copy(pair[0], pair[1]) // the end of either is the end of both
				pair[0].Close()
				pair[1].Close()
			}()
		}
	}
}

func (l *lab) script(t *testing.T, args ...string) {
	t.Helper()
	must(t, "../../internal/ci/lab", args...)
}

// on runs a command on node i.
func (l *lab) on(i int, command string) (string, error) {
	out, err := exec.Command("ssh", "-i", l.dir+"/id", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
		fmt.Sprintf("root@10.77.0.%d", 10+i), command).CombinedOutput()
	return string(out), err
}

// mirrors are the flags that have envfix fetch from the lab's index.
func (l *lab) mirrors() []string {
	return []string{"--mirror", "default=" + l.x.URL, "--mirror", pytorchCU126 + "=" + l.x.URL,
		"--mirror", "https://download.pytorch.org/whl/cpu=" + l.x.URL}
}

// computing gives a stand-in for torch GPUs that compute: as many as the machine's
// /etc/lab/env lists.
func computing(w testindex.Wheel) testindex.Wheel {
	w.Files["torch/cuda/__init__.py"] = `def _gpus():
    try:
        lines = [l for l in open("/etc/lab/env") if l.startswith("FAKE_NVML_GPUS=")]
    except OSError:
        lines = []
    return [g.split(",")[0] for l in lines for g in l.strip().split("=", 1)[1].split(";")]

def is_available():
    return bool(_gpus())

def device_count():
    return len(_gpus())

def get_device_name(i):
    return _gpus()[i]

def get_arch_list():
    return []
`
	w.Files["torch/__init__.py"] += `
class Zero(float):
    def to(self, device):
        return self

    cpu = abs = max = item = lambda self: self
    __matmul__ = __sub__ = lambda self, other: self

def manual_seed(n):
    pass

def randn(*shape):
    return Zero(0)

class nn:
    class functional:
        conv2d = staticmethod(lambda x, w: x)
`
	return w
}
