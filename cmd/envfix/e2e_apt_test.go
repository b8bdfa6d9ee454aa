//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/resolver"
)

// A chroot is a fresh Debian with the parts of its archive that hold NVIDIA's
// libraries, and this envfix in it.
type chroot struct {
	*testing.T
	dir string
	env []string // for what runs in it
	do  func(func())
}

// TestE2EApt runs the real apt, dpkg and sudo in a fresh Debian: it simulates,
// downloads and installs the user-space part of NVIDIA's driver, asks the real
// library, pins, rehearses, holds and downgrades, and has sudo say yes and no. It
// prints what it did.
func TestE2EApt(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it makes a Debian of 300 MB: `make e2e` runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("a chroot can only be made by root")
	}
	t.Parallel() // it waits for a mirror
	c := newChroot(t)
	c.must("", "apt-get", "update", "-q")
	sim := c.must("", "apt-get", "-s", "install", "--no-install-recommends", "nvidia-driver")
	fmt.Printf("  apt-get -s install nvidia-driver: %d packages\n", strings.Count(sim, "\nInst ")+1)

	install := []string{"libnvidia-ml1", "libnvidia-cfg1"}
	p := c.plan("p.json",
		[]string{"apt-get", "update"},
		append([]string{"apt-get", "install", "-y", "--download-only", "--no-install-recommends"}, install...),
		append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, install...))
	c.wantCode(0, "", "envfix", "apply", p, "--yes", "--made-elsewhere")
	fmt.Printf("  installed by envfix: %s\n", strings.ReplaceAll(strings.TrimSpace(c.must("", "dpkg-query", "-W", "libnvidia-ml1", "libnvidia-cfg1")), "\n", ", "))
	fmt.Printf("  dpkg --audit: %q\n", c.must("", "dpkg", "--audit"))

	var h machine.Machine
	if err := json.Unmarshal([]byte(c.must("", "envfix", "facts", "--json")), &h); err != nil {
		t.Fatal(err)
	}
	if h.Driver == nil || !h.Driver.NotLoaded || h.Driver.Version.IsZero() {
		t.Errorf("the real library without a kernel module: %+v", h.Driver)
	} else {
		fmt.Printf("  envfix facts, by the real library: driver %s, not loaded\n", h.Driver.Version)
	}

	c.exact(t)
	c.offline(t)
	c.rehearse(t)
	c.hold(t)
	c.downgrade(t)
	c.sudo(t)
	c.rootScript(t)
	c.untidy(t)
}

// sudo goes the three ways to root's rights: allowed, refused, and started by it.
func (c *chroot) sudo(t *testing.T) {
	t.Helper()
	c.must("", "useradd", "-m", "me")
	c.write("etc/sudoers.d/me", "me ALL=(root) NOPASSWD: ALL\n", 0o440)
	// Another command than before, so that the plan is another one.
	p := c.plan("home/me/p.json", []string{"apt-get", "install", "-y", "libnvidia-cfg1"})
	c.must("", "chown", "-R", "me:me", "/home/me")
	c.wantCode(0, "me", "envfix", "apply", p, "--yes", "--made-elsewhere")
	fmt.Println("  through sudo without a password: done")
	q := c.plan("home/me/q.json", []string{"apt-get", "install", "-y", "libnvidia-ml1"})
	c.must("", "chown", "-R", "me:me", "/home/me")
	c.wantCode(0, "me", "sudo", "envfix", "apply", q, "--yes", "--made-elsewhere")
	if foreign := c.must("", "find", "/home/me", "!", "-user", "me"); foreign != "" {
		t.Errorf("started by sudo, and not the user's own:\n%s", foreign)
	}
	fmt.Println("  started by sudo: done, and every file belongs to the user")
	c.write("etc/sudoers.d/me", "me ALL=(root) ALL\n", 0o440)
	c.password(t)
	r := c.plan("home/me/r.json", []string{"apt-get", "remove", "-y", "libnvidia-cfg1"})
	c.must("", "chown", "-R", "me:me", "/home/me")
	c.must("me", "sudo", "-k")
	out := c.wantCode(fail.Privilege, "me", "envfix", "apply", r, "--yes", "--made-elsewhere")
	if !strings.Contains(out, "#!/bin/sh\n") || !strings.Contains(out, "root DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l apt-get remove -y libnvidia-cfg1\n") {
		t.Errorf("no script for an administrator:\n%s", out)
	}
	fmt.Println("  sudo wants a password and there is no terminal: exit 6 with a script")
	c.must("", "rm", "/etc/sudoers.d/me")
	c.wantCode(fail.Privilege, "me", "envfix", "apply", r, "--yes", "--made-elsewhere")
	fmt.Println("  sudo refuses: exit 6")
	c.wantCode(fail.Privilege, "me", "envfix", "__root")
}

// untidy leaves a package half-way, as a power loss does: nothing is begun.
func (c *chroot) untidy(t *testing.T) {
	t.Helper()
	c.must("", "sh", "-c", "cd /tmp && apt-get download -q hello && dpkg --unpack hello_*.deb")
	p := c.plan("u.json", []string{"apt-get", "remove", "-y", "libnvidia-cfg1"})
	out := c.wantCode(fail.Preflight, "", "envfix", "apply", p, "--yes", "--made-elsewhere")
	if !strings.Contains(out, "dpkg --configure -a") {
		t.Errorf("nothing says how to mend it:\n%s", out)
	}
	fmt.Println("  a package left half-way: exit 9, and what to do")
	c.must("", "dpkg", "--configure", "-a")
	c.wantCode(0, "", "envfix", "apply", p, "--yes", "--made-elsewhere")
}

// minbase is a minimal Debian, made once; each test has a copy. "root" is missing
// in it where this machine's apt names no archive of Debian.
var minbase = made("minbase", func(dir string) error {
	if err := debootstrap(); err != nil {
		return err
	}
	// The mirror and the suite of this machine's own Debian.
	targets, err := exec.Command("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages", "Origin: Debian", "Label: Debian", "Component: main").Output()
	words := strings.Fields(string(targets))
	if err != nil || len(words) < 3 {
		return err
	}
	start := time.Now()
	err = execute(nil, "debootstrap", "--variant=minbase", "--include=sudo", "--components=main,contrib,non-free,non-free-firmware", words[1], dir+"/root", words[0])
	fmt.Printf("  debootstrap %s: %.0f s\n", words[1], time.Since(start).Seconds())
	return err
})

func newChroot(t *testing.T) *chroot {
	t.Helper()
	c := &chroot{T: t, dir: filepath.Join(t.TempDir(), "debian"), do: func(f func()) { f() }}
	run := func(argv ...string) string {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
		return string(out)
	}
	base := file(t, minbase, "root")
	if _, err := os.Stat(base); err != nil {
		t.Skip("this is not a Debian with an archive: apt-get indextargets names no source of main")
	}
	run("cp", "-a", "--reflink=auto", base, c.dir)
	run("cp", build(t), filepath.Join(c.dir, "usr/local/bin/envfix"))
	// /dev is the nodes that debootstrap made, never this machine's own: a test that
	// is killed leaves its folder, and whoever removes that would empty /dev.
	proc := filepath.Join(c.dir, "proc")
	if err := syscall.Mount("proc", proc, "proc", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(proc, syscall.MNT_DETACH) })
	for _, name := range []string{"/etc/resolv.conf", "/etc/hosts"} {
		if b, err := os.ReadFile(name); err == nil {
			c.write(name, string(b), 0o644)
		}
	}
	return c
}

func (c *chroot) write(name, text string, mode os.FileMode) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		c.Fatal(err)
	}
}

// plan writes a plan of steps for root and returns its name within.
func (c *chroot) plan(name string, commands ...[]string) string {
	c.Helper()
	user := "" // whose plan it is: what root may do is not what a user may
	if strings.HasPrefix(name, "home/") {
		user = strings.Split(name, "/")[1]
	}
	var h machine.Machine
	if err := json.Unmarshal([]byte(c.must(user, "envfix", "facts", "--json")), &h); err != nil {
		c.Fatal(err)
	}
	p := &plan.Plan{Decision: resolver.FixDriver, Target: plan.Target{Dir: ".venv"}, Basis: plan.Basis{Facts: h}}
	for i, argv := range commands {
		p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprintf("packages-%d", i+1), Title: strings.Join(argv, " "), Root: true,
			Run: &plan.Run{Argv: argv, Env: map[string]string{"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}}})
	}
	err := plan.Seal(p)
	b, err2 := plan.Encode(p)
	if err := errors.Join(err, err2); err != nil {
		c.Fatal(err)
	}
	c.write(name, string(b), 0o644)
	return "/" + name
}

// run starts a program in the chroot, as a user ("" root).
func (c *chroot) run(user string, argv ...string) (string, int) {
	c.Helper()
	home := "/root"
	if user != "" {
		home = "/home/" + user
		argv = append([]string{"runuser", "-u", user, "--"}, argv...)
	}
	cmd := exec.Command("/usr/bin/env", append([]string{"-C", home}, argv...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LANG=C.UTF-8", "ENVFIX_TODAY=2026-11-21"}
	cmd.Env = append(cmd.Env, c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.dir}
	cmd.Dir = "/"
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var err error
	c.do(func() { err = cmd.Run() })
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.Fatalf("%s: %v", strings.Join(argv, " "), err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func (c *chroot) must(user string, argv ...string) string {
	c.Helper()
	return c.wantCode(0, user, argv...)
}

func (c *chroot) wantCode(code int, user string, argv ...string) string {
	c.Helper()
	out, got := c.run(user, argv...)
	if got != code {
		c.Fatalf("%s: exit %d, want %d\n%s", strings.Join(argv, " "), got, code, out)
	}
	return out
}
