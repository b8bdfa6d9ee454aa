//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/testindex"
)

// TestE2EDriverFirst goes from nothing (a Debian without Python, with a Tesla K80 on
// its bus and no driver) to a proven environment, with the reboot as the only stop:
// the real apt and sudo, and stand-ins for what no machine of a test has: the driver's
// package, the kernel's headers, the reboot, and a torch that computes.
func TestE2EDriverFirst(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it makes a Debian: `make e2e` runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("a chroot can only be made by root")
	}
	t.Parallel() // it waits for a mirror
	c := newChroot(t)
	c.must("", "useradd", "-m", "me")
	c.write("etc/sudoers.d/me", "me ALL=(root) NOPASSWD: ALL\n", 0o440)
	c.pci("0x102d")
	c.boots("11111111-1111-4111-8111-111111111111")
	c.env = append(c.env, "FAKE_NVML_INIT=9") // its module is loaded at the next start
	c.archive(t)
	x := testindex.Serve(t)
	apply := []string{"envfix", "apply", "--yes"}
	for _, from := range []string{"default", "https://download.pytorch.org/whl/cu118"} {
		apply = append(apply, "--mirror", from+"="+x.URL)
	}
	p, err := plan.Decode([]byte(c.must("me", append([]string{"envfix", "plan", "--json"}, apply[3:]...)...)))
	if err != nil || p.Then == nil || p.Partial {
		t.Fatalf("the first plan is not the whole plan: %v %+v", err, p)
	}
	then := *p
	then.Choice = *p.Then
	x.Add(uvWheel(t))
	for _, w := range standInWheels(&then) {
		if w.Name == "torch" {
			w = computing(w)
		}
		x.Add(w)
	}

	out := c.wantCode(fail.Reboot, "me", apply...)
	if !strings.Contains(out, "hint: after the reboot: `cd /home/me && envfix apply --resume`") {
		t.Errorf("what to do is not said:\n%s", out)
	}
	out = c.wantCode(fail.Reboot, "me", "envfix", "apply", "--resume", "--yes")
	if c.has("home/me/.venv") {
		t.Errorf("it went on before the reboot:\n%s", out)
	}
	c.boots("22222222-2222-4222-8222-222222222222")
	c.folder("etc/lab")
	c.write("etc/lab/env", "FAKE_NVML_GPUS=Tesla K80\n", 0o644)
	c.folder("sys/module/nvidia")
	c.write("sys/module/nvidia/version", standInDriver+"\n", 0o444)
	c.env = append(c.env, "FAKE_NVML_INIT=0", "FAKE_NVML_DRIVER="+standInDriver, "FAKE_NVML_GPUS=Tesla K80,3,7,00000000:01:00.0,102d10de,11441")
	c.proven("me", []string{"sh", "-c", "cd / && cd /home/me && envfix apply --resume --yes"})
	if history := c.must("me", "envfix", "history"); strings.Count(history, "the driver, torch 2.3.1 cu118 with uv") != 1 || !strings.Contains(history, "torch 2.3.1, in use") {
		t.Errorf("what was done is not told:\n%s", history)
	}
	if again := c.must("me", apply...); !strings.Contains(again, "nothing to do") {
		t.Errorf("once more:\n%s", again)
	}
}

// standInDriver is the version of the stand-in for the driver of branch 470.
const standInDriver = "470.256.99"

// archive offers the driver's package and the kernel's headers from the disk.
func (c *chroot) archive(t *testing.T) {
	t.Helper()
	kernel, err := exec.Command("uname", "-r").Output()
	if err != nil {
		t.Fatal(err)
	}
	library, err := os.ReadFile(file(t, standIns, "libnvidia-ml.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	c.folder("lib/modules/" + strings.TrimSpace(string(kernel)))
	var list string
	for _, p := range []struct{ name, version string }{{"nvidia-tesla-470-driver", standInDriver + "-1"}, {"linux-headers-" + strings.TrimSpace(string(kernel)), "1-1"}} {
		dir := "srv/archive/" + p.name
		c.folder(dir + "/DEBIAN")
		c.folder(dir + "/usr/lib/x86_64-linux-gnu")
		control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: nobody <nobody@example.invalid>\nDescription: stands in\n", p.name, p.version)
		c.write(dir+"/DEBIAN/control", control, 0o644)
		if p.name == "nvidia-tesla-470-driver" {
			so := dir + "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so."
			c.write(so+standInDriver, string(library), 0o644)
			if err := os.Symlink("libnvidia-ml.so."+standInDriver, filepath.Join(c.dir, so+"1")); err != nil {
				t.Fatal(err)
			}
		}
		c.must("", "dpkg-deb", "--root-owner-group", "--build", "/"+dir, "/"+dir+".deb")
		deb, err := os.ReadFile(filepath.Join(c.dir, dir+".deb"))
		if err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("%sFilename: ./%s.deb\nSize: %d\nSHA256: %x\n\n", control, p.name, len(deb), sha256.Sum256(deb))
	}
	c.write("srv/archive/Packages", list, 0o644)
	c.write("etc/apt/sources.list.d/disk.list", "deb [trusted=yes] file:/srv/archive ./\n", 0o644)
	c.must("", "apt-get", "update", "-q")
}

// pci puts a GPU on the bus.
func (c *chroot) pci(device string) {
	c.Helper()
	const at = "sys/bus/pci/devices/0000:01:00.0"
	c.folder(at)
	for name, text := range map[string]string{"vendor": "0x10de", "device": device, "class": "0x030200"} {
		c.write(at+"/"+name, text+"\n", 0o444)
	}
}

// boots is what a start of the machine changes: its id, a file put over the kernel's.
// It goes with the chroot's own /proc.
func (c *chroot) boots(id string) {
	c.Helper()
	c.write("srv/boot_id", id+"\n", 0o444)
	at := filepath.Join(c.dir, "proc/sys/kernel/random/boot_id")
	if b, err := os.ReadFile(at); err == nil && strings.TrimSpace(string(b)) == id {
		return // it lies over it from an earlier start
	}
	if err := syscall.Mount(filepath.Join(c.dir, "srv/boot_id"), at, "", syscall.MS_BIND, ""); err != nil {
		c.Fatal(err)
	}
}

func (c *chroot) folder(name string) {
	c.Helper()
	if err := os.MkdirAll(filepath.Join(c.dir, name), 0o755); err != nil {
		c.Fatal(err)
	}
}

func (c *chroot) has(name string) bool {
	_, err := os.Stat(filepath.Join(c.dir, name))
	return err == nil
}

// uvWheel is the real uv in a wheel.
func uvWheel(t *testing.T) testindex.Wheel {
	t.Helper()
	b, err := os.ReadFile(testindex.UV(t))
	if err != nil {
		t.Fatal(err)
	}
	w := testindex.Wheel{Name: "uv", Version: "99.0", Files: map[string]string{"uv-99.0.data/scripts/uv": string(b)}}
	w.Raw = w.Bytes()
	return w
}
