//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/resolver"
)

// steps writes a plan of whole steps and returns its name within the chroot.
func (c *chroot) steps(name string, steps ...plan.Step) string {
	c.Helper()
	var h machine.Machine
	if err := json.Unmarshal([]byte(c.must("", "envfix", "facts", "--json")), &h); err != nil {
		c.Fatal(err)
	}
	p := &plan.Plan{Decision: resolver.FixDriver, Target: plan.Target{Dir: ".venv"}, Basis: plan.Basis{Facts: h}}
	for i, s := range steps {
		s.ID, s.Root = fmt.Sprintf("packages-%d", i+1), true
		if s.Run != nil {
			s.Title, s.Run.Env = strings.Join(s.Run.Argv, " "), map[string]string{"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
		}
		p.Steps = append(p.Steps, s)
	}
	err := plan.Seal(p)
	b, err2 := plan.Encode(p)
	if err := errors.Join(err, err2); err != nil {
		c.Fatal(err)
	}
	c.write(name, string(b), 0o644)
	return "/" + name
}

func runs(argv ...string) plan.Step { return plan.Step{Run: &plan.Run{Argv: argv}} }

// brings is a step that leaves a package in one version.
func brings(name, version string, flags ...string) plan.Step {
	s := runs(slices.Concat([]string{"apt-get", "install", "-y"}, flags, []string{name + "=" + version})...)
	s.Effect = &plan.Effect{Package: name, Version: version}
	return s
}

func rehearses(may []string, argv ...string) plan.Step {
	s := runs(slices.Concat([]string{"apt-get", "install", "--simulate", "-y"}, argv)...)
	s.Rehearsal = &plan.Rehearsal{MayRemove: may}
	return s
}

func (c *chroot) version(name string) string {
	c.Helper()
	out, _ := c.run("", "dpkg-query", "-W", "-f", "${Version}", name)
	return out
}

// candidate is the version that apt would install, as apt says it.
func (c *chroot) candidate(name string) string {
	c.Helper()
	_, v, ok := strings.Cut(c.must("", "apt-cache", "policy", name), "Candidate: ")
	v, _, _ = strings.Cut(v, "\n")
	if !ok || v == "(none)" {
		c.Fatalf("apt has no %s", name)
	}
	return v
}

// exact plans for a Tesla K80 on the bus, whose last driver Debian itself has: the
// plan names the version that apt offers, in each of the driver's steps.
func (c *chroot) exact(t *testing.T) {
	t.Helper()
	bus := filepath.Join(c.dir, "sys/bus/pci/devices/0000:01:00.0")
	if err := os.MkdirAll(bus, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"vendor": "0x10de", "device": "0x102d", "class": "0x030200"} {
		c.write("sys/bus/pci/devices/0000:01:00.0/"+name, text+"\n", 0o444)
	}
	c.must("", "apt-get", "purge", "-y", "-q", "libnvidia-ml1", "libnvidia-cfg1") // a fresh machine
	c.must("", "apt-get", "autoremove", "-y", "-q")
	var p plan.Plan
	out := c.must("", "envfix", "plan", "--python", "3.10", "--json")
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := c.candidate("nvidia-tesla-470-driver")
	var pinned []string
	for _, s := range p.Steps {
		if strings.HasPrefix(s.ID, "driver") && s.Run != nil && s.Run.Argv[len(s.Run.Argv)-1] == "nvidia-tesla-470-driver="+want {
			pinned = append(pinned, s.ID)
		}
	}
	if !slices.Equal(pinned, []string{"driver-rehearse", "driver-download", "driver"}) || p.Driver.Version == nil || !strings.HasPrefix(want, *p.Driver.Version) {
		t.Errorf("apt has %s; pinned in %q, driver %+v", want, pinned, p.Driver)
	}
	fmt.Printf("  envfix plan for a Tesla K80: nvidia-tesla-470-driver=%s, in %d steps\n", want, len(pinned))
	if err := os.RemoveAll(filepath.Join(c.dir, "sys/bus")); err != nil {
		t.Fatal(err)
	}
}

// offline takes the network away between the download and the installation.
func (c *chroot) offline(t *testing.T) {
	t.Helper()
	v := c.candidate("libnvidia-ml1")
	get := c.steps("get.json", runs("apt-get", "install", "--download-only", "-y", "libnvidia-ml1="+v))
	put := c.steps("put.json", brings("libnvidia-ml1", v, "--no-download"))
	c.must("", "apt-get", "clean")
	const cut = "etc/apt/apt.conf.d/99cut"
	c.write(cut, "Acquire::http::Proxy \"http://127.0.0.1:9/\";\nAcquire::https::Proxy \"http://127.0.0.1:9/\";\nAcquire::Retries \"0\";\n", 0o644)
	c.wantCode(fail.Failed, "", "envfix", "apply", put, "--yes", "--made-elsewhere") // nothing was fetched
	if got := c.version("libnvidia-ml1"); got == v {
		t.Error("it came over a network that is not there")
	}
	if err := os.Remove(filepath.Join(c.dir, cut)); err != nil {
		t.Fatal(err)
	}
	c.wantCode(0, "", "envfix", "apply", get, "--yes", "--made-elsewhere")
	c.write(cut, "Acquire::http::Proxy \"http://127.0.0.1:9/\";\nAcquire::https::Proxy \"http://127.0.0.1:9/\";\n", 0o644)
	c.wantCode(0, "", "envfix", "apply", put, "--yes", "--made-elsewhere")
	if got := c.version("libnvidia-ml1"); got != v {
		t.Errorf("installed %q, want %q", got, v)
	}
	fmt.Printf("  fetched, the network cut, installed from the cache: libnvidia-ml1 %s\n", v)
	gone := c.steps("gone.json", brings("libnvidia-cfg1", "1.2.3-4"))
	out := c.wantCode(fail.Stale, "", "envfix", "apply", gone, "--yes", "--made-elsewhere")
	if !strings.Contains(out, "1.2.3-4") {
		t.Errorf("a version that is not to be had:\n%s", out)
	}
	if err := os.Remove(filepath.Join(c.dir, cut)); err != nil {
		t.Fatal(err)
	}
}

// takesOver offers a package of the driver's name that takes a system's log daemon
// away, from an archive on the disk.
func (c *chroot) takesOver(t *testing.T) {
	t.Helper()
	c.must("", "apt-get", "install", "-y", "-q", "--no-install-recommends", "inetutils-syslogd")
	control := "Package: nvidia-takes-over\nVersion: 1.0-1\nArchitecture: all\nMaintainer: nobody <nobody@example.invalid>\nConflicts: inetutils-syslogd\nDescription: takes over\n"
	if err := os.MkdirAll(filepath.Join(c.dir, "srv/archive/takes/DEBIAN"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("srv/archive/takes/DEBIAN/control", control, 0o644)
	c.must("", "dpkg-deb", "--build", "/srv/archive/takes", "/srv/archive/takes.deb")
	deb, err := os.ReadFile(filepath.Join(c.dir, "srv/archive/takes.deb"))
	if err != nil {
		t.Fatal(err)
	}
	c.write("srv/archive/Packages", fmt.Sprintf("%sFilename: ./takes.deb\nSize: %d\nSHA256: %x\n", control, len(deb), sha256.Sum256(deb)), 0o644)
	c.write("etc/apt/sources.list.d/disk.list", "deb [trusted=yes] file:/srv/archive ./\n", 0o644)
	c.must("", "apt-get", "update", "-q")
}

// rehearse lets apt show what it would remove: a system's log daemon. A plan's own
// rehearsal refuses what the plan does not name; root's half refuses it whatever a
// plan names.
func (c *chroot) rehearse(t *testing.T) {
	t.Helper()
	c.takesOver(t)
	const name = "nvidia-takes-over"
	out := c.wantCode(fail.Preflight, "", "envfix", "apply", c.steps("no.json", rehearses(nil, name)), "--yes", "--made-elsewhere")
	if !strings.Contains(out, "would remove 1 packages that the plan does not name") || !strings.Contains(out, "inetutils-syslogd") {
		t.Errorf("it does not say what would go:\n%s", out)
	}
	c.wantCode(0, "", "envfix", "apply", c.steps("yes.json", rehearses([]string{"inetutils-*"}, name)), "--yes", "--made-elsewhere")
	out = c.wantCode(fail.Preflight, "", "envfix", "apply", c.steps("hostile.json", rehearses([]string{"*"}, name), runs("apt-get", "install", "-y", name)), "--yes", "--made-elsewhere")
	if _, code := c.run("", "dpkg", "--status", name); code == 0 || !strings.Contains(out, "inetutils-syslogd") || c.version("inetutils-syslogd") == "" {
		t.Errorf("a plan that allows every removal:\n%s", out)
	}
	fmt.Println("  rehearsal: a removal that the plan does not name is refused (exit 9), a named one is not; root's half refuses both")
}

// hold goes round: envfix holds, writes it down, meets its own hold and somebody's.
func (c *chroot) hold(t *testing.T) {
	t.Helper()
	v := c.candidate("libnvidia-cfg1")
	record := plan.Step{Title: "write down", Write: &plan.Write{Path: "/var/lib/envfix/held", Mode: 0o644, Content: "libnvidia-cfg1\n"}}
	c.wantCode(0, "", "envfix", "apply", c.steps("hold.json", brings("libnvidia-cfg1", v), record, runs("apt-mark", "hold", "libnvidia-cfg1")), "--yes", "--made-elsewhere")
	if held := c.must("", "apt-mark", "showhold"); held != "libnvidia-cfg1\n" {
		t.Errorf("held: %q", held)
	}
	change := []plan.Step{runs("apt-get", "install", "-y", "libnvidia-cfg1="+v)}
	out := c.wantCode(fail.Preflight, "", "envfix", "apply", c.steps("held.json", change...), "--yes", "--made-elsewhere")
	if !strings.Contains(out, "libnvidia-cfg1 is held at its version") {
		t.Errorf("a hold is not told:\n%s", out)
	}
	again := slices.Concat([]plan.Step{runs("apt-mark", "unhold", "libnvidia-cfg1")}, change, []plan.Step{record, runs("apt-mark", "hold", "libnvidia-cfg1")})
	c.wantCode(0, "", "envfix", "apply", c.steps("again.json", again...), "--yes", "--made-elsewhere")
	if held := c.must("", "apt-mark", "showhold"); held != "libnvidia-cfg1\n" {
		t.Errorf("held after the round: %q", held)
	}
	c.must("", "apt-mark", "unhold", "libnvidia-cfg1")
	fmt.Println("  hold: set, refused where the plan does not lift it (exit 9), lifted and set again")
}

// downgrade goes back from a newer package than the archive has.
func (c *chroot) downgrade(t *testing.T) {
	t.Helper()
	v := c.candidate("libnvidia-cfg1")
	dir := filepath.Join(c.dir, "tmp/newer/DEBIAN")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("tmp/newer/DEBIAN/control", "Package: libnvidia-cfg1\nVersion: 999.1.1-1\nArchitecture: all\nMaintainer: nobody <nobody@example.invalid>\nDescription: newer\n", 0o644)
	c.must("", "dpkg-deb", "--build", "/tmp/newer", "/tmp/newer.deb")
	c.must("", "dpkg", "--install", "/tmp/newer.deb")
	p := c.steps("down.json", rehearses(nil, "--allow-downgrades", "libnvidia-cfg1="+v), brings("libnvidia-cfg1", v, "--allow-downgrades"))
	c.wantCode(0, "", "envfix", "apply", p, "--yes", "--made-elsewhere")
	if got := c.version("libnvidia-cfg1"); got != v {
		t.Errorf("from 999.1.1-1 to %q, want %s", got, v)
	}
	if said := c.must("", "sh", "-c", "cat /root/.envfix/logs/*packages-1.log"); !strings.Contains(said, "Inst libnvidia-cfg1 [999.1.1-1]") {
		t.Errorf("the rehearsal's log:\n%s", said)
	}
	fmt.Printf("  downgrade: rehearsed and done, libnvidia-cfg1 999.1.1-1 to %s\n", v)
}

// password types one where sudo asks for it, on a terminal of script(1).
func (c *chroot) password(t *testing.T) {
	t.Helper()
	pts := filepath.Join(c.dir, "dev/pts")
	if err := syscall.Mount("/dev/pts", pts, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(pts, syscall.MNT_DETACH)
	c.input("me:typed by hand\n", "", "chpasswd")
	p := c.plan("home/me/typed.json", []string{"apt-get", "install", "-y", "-q", "libnvidia-cfg1", "libnvidia-ml1"})
	c.must("", "chown", "-R", "me:me", "/home/me")
	c.must("me", "sudo", "-k")
	out, code := c.input("typed by hand\n", "me", "script", "-qec", "envfix apply "+p+" --yes --made-elsewhere", "/dev/null")
	if code != 0 || !strings.Contains(out, "assword") {
		t.Errorf("with the password: exit %d\n%s", code, out)
	}
	c.must("me", "sudo", "-k")
	// Another plan than before: the one that was done has nothing left to do.
	q := c.plan("home/me/again.json", []string{"apt-get", "install", "-y", "-q", "libnvidia-ml1", "libnvidia-cfg1"})
	c.must("", "chown", "-R", "me:me", "/home/me")
	out, code = c.input("wrong\nwrong\nwrong\n", "me", "script", "-qec", "envfix apply "+q+" --yes --made-elsewhere", "/dev/null")
	if code != fail.Privilege {
		t.Errorf("with wrong passwords: exit %d, want %d\n%s", code, fail.Privilege, out)
	}
	fmt.Println("  sudo asks for a password on a terminal: done; three wrong ones: exit 6")
}

// rootScript has an administrator run what envfix prints where it may not: it is
// whole, a shell reads it, and it looks for itself before and after.
func (c *chroot) rootScript(t *testing.T) {
	t.Helper()
	v := c.candidate("libnvidia-cfg1")
	c.must("", "apt-get", "purge", "-y", "-q", "libnvidia-cfg1")
	step := func(name string, s ...plan.Step) string {
		c.must("", "cp", c.steps(name, s...), "/home/me/"+name)
		c.must("", "chown", "me:me", "/home/me/"+name)
		out := c.wantCode(fail.Privilege, "me", "envfix", "apply", "/home/me/"+name, "--yes", "--made-elsewhere")
		i, j := strings.Index(out, "#!/bin/sh\n"), strings.Index(out, "envfix: error:")
		if i < 0 {
			t.Fatalf("no script:\n%s", out)
		}
		if j < i {
			j = len(out)
		}
		c.write("root/"+name+".sh", out[i:j], 0o700)
		c.must("", "sh", "-n", "/root/"+name+".sh")
		return "/root/" + name + ".sh"
	}
	record := plan.Step{Title: "write down", Write: &plan.Write{Path: "/var/lib/envfix/held", Mode: 0o644, Content: "libnvidia-cfg1\n"}}
	good := step("good.json", rehearses(nil, "libnvidia-cfg1="+v), brings("libnvidia-cfg1", v), record, runs("apt-mark", "hold", "libnvidia-cfg1"))
	c.wantCode(0, "", good)
	if got, held := c.version("libnvidia-cfg1"), c.must("", "apt-mark", "showhold"); got != v || held != "libnvidia-cfg1\n" {
		t.Errorf("after the script: libnvidia-cfg1 %q, held %q", got, held)
	}
	c.must("", "apt-mark", "unhold", "libnvidia-cfg1")
	c.wantCode(fail.Preflight, "", step("desktop.json", rehearses(nil, "nvidia-takes-over"), runs("apt-get", "remove", "-y", "libnvidia-cfg1")))
	wrong := brings("libnvidia-cfg1", v)
	wrong.Effect.Version = "1-1"
	c.wantCode(fail.Verify, "", step("effect.json", wrong))
	if c.version("libnvidia-cfg1") == "" {
		t.Error("the script went on after what it should have refused")
	}
	fmt.Println("  without rights: exit 6 and a script; sh -n, done by root, a removal and a wrong version refused by the script itself")
}

// input runs a program with text on its standard input.
func (c *chroot) input(text, user string, argv ...string) (string, int) {
	c.Helper()
	home := "/root"
	if user != "" {
		home = "/home/" + user
		argv = append([]string{"runuser", "-u", user, "--"}, argv...)
	}
	cmd := exec.Command("/usr/bin/env", append([]string{"-C", home}, argv...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "ENVFIX_TODAY=2026-11-21"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.dir, Setsid: true}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
