//go:build linux

package main

import (
	"cmp"
	"envfix/internal/fail"
	"envfix/internal/maintain"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestE2EFresh goes from nothing (a Debian of its essential packages, without
// Python, and this one binary) to a proven environment by one command: as root, as
// a user with sudo, and as a user without, to whom uv comes from the index; where
// none is known, they get what an administrator has to run.
func TestE2EFresh(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("it makes two Debians and installs gigabytes of real torch: `make e2e` runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("a chroot can only be made by root")
	}
	t.Parallel() // it waits for mirrors
	// The default index has no CPU build for Linux: a GPU is described.
	apply := []string{"envfix", "apply", "--yes", "--gpu", "H100", "--driver", "580.95.05", "--only-index", "default"}
	t.Run("root", func(t *testing.T) {
		takeDisk(t, diskByPip)
		freshChroot(t).proven("", apply)
	})
	t.Run("company", func(t *testing.T) {
		takeDisk(t, diskByPip)
		c, company := freshChroot(t), newCompany(t)
		c.write("etc/bundle.pem", string(company.bundle), 0o644)
		c.do = company.do
		c.env = []string{"SSL_CERT_FILE=/etc/bundle.pem", "HTTPS_PROXY=" + company.proxy, "HTTP_PROXY=" + company.proxy}
		c.proven("", []string{"envfix", "apply", "--yes"})
		if company.through.Load() == 0 {
			t.Error("nothing went through the proxy")
		}
	})
	t.Run("users", func(t *testing.T) {
		takeDisk(t, diskByPip)
		c := freshChroot(t)
		c.must("", "useradd", "-m", "poor")
		out := c.wantCode(fail.Privilege, "poor", apply...)
		if !strings.Contains(out, "apt-get install -y --no-install-recommends python3 python3-venv\n") {
			t.Errorf("no line for an administrator:\n%s", out)
		}
		fmt.Println("  a user without sudo, no index known: exit 6, and the script for an administrator")
		index := maintain.PipDefault(t.Context(), "python3")
		c.proven("poor", append([]string{"env", "PIP_INDEX_URL=" + index}, apply...))
		c.must("poor", "rm", "-rf", ".venv", ".envfix", ".cache") // gigabytes
		c.must("", "useradd", "-m", "me")
		c.write("etc/sudoers.d/me", "me ALL=(root) NOPASSWD: ALL\n", 0o440)
		c.script("me", apply[2:])
		c.must("", "apt-get", "purge", "-qq", "-y", "--autoremove", "python3*")
		c.must("me", "rm", "-rf", ".venv", ".envfix", ".cache", ".local/state/envfix")
		c.proven("me", apply)
		if foreign := c.must("", "find", "/home/me", "!", "-user", "me"); foreign != "" {
			t.Errorf("not the user's own:\n%s", foreign)
		}
	})
}

// proven carries a plan out and has the new environment's own Python say so.
func (c *chroot) proven(user string, argv []string) {
	c.Helper()
	start := time.Now()
	out := c.wantCode(0, user, argv...)
	version := c.must(user, ".venv/bin/python", "-c", "import torch, torchvision; print(torch.__version__)")
	history := c.must(user, "envfix", "history")
	if strings.Count(history, "  apply  ") != 1 || !strings.Contains(out, "import torch 2.") {
		c.Errorf("not one proven apply:\n%s\n%s", out, history)
	}
	fmt.Printf("  %s: torch %s by one command in %.0f s\n", cmp.Or(user, "root"), strings.TrimSpace(version), time.Since(start).Seconds())
}

// script carries out what `envfix plan --sh` prints on this machine for one like it.
func (c *chroot) script(user string, flags []string) {
	c.Helper()
	plan := exec.Command(filepath.Join(c.dir, "usr/local/bin/envfix"), append([]string{"plan", "--sh", "--python", "3.11"}, flags[1:]...)...)
	plan.Dir = c.TempDir()
	text, err := plan.Output()
	if err != nil {
		c.Fatal(err)
	}
	c.write("tmp/install.sh", string(text), 0o755)
	start := time.Now()
	c.must(user, "/tmp/install.sh")
	version := c.must(user, ".venv/bin/python", "-c", "import torch, torchvision; print(torch.__version__)")
	fmt.Printf("  %s: torch %s by the script of `plan --sh` in %.0f s\n", user, strings.TrimSpace(version), time.Since(start).Seconds())
}

// freshChroot is a Debian with nothing more than the static binary, which trusts
// whom this machine trusts.
func freshChroot(t *testing.T) *chroot {
	t.Helper()
	c := newChroot(t)
	if out, code := c.run("", "sh", "-c", "command -v python3 uv pip"); code == 0 {
		t.Fatalf("not a machine without Python: %s", out)
	}
	if err := execute(nil, "cp", file(t, static, "envfix"), filepath.Join(c.dir, "usr/local/bin/envfix")); err != nil {
		t.Fatal(err)
	}
	if bundle := cmp.Or(os.Getenv("SSL_CERT_FILE"), os.Getenv("PIP_CERT")); bundle != "" {
		b, err := os.ReadFile(bundle)
		if err != nil {
			t.Fatal(err)
		}
		c.write("etc/bundle.pem", string(b), 0o644)
		c.env = append(c.env, "SSL_CERT_FILE=/etc/bundle.pem")
	}
	return c
}
