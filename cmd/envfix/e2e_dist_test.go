package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"envfix/internal/machine"
)

// TestE2EOldDebian starts the static build in a chroot of Debian 11 (glibc 2.31),
// where the cgo build made here cannot start, and plans there.
func TestE2EOldDebian(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") == "" {
		t.Skip("needs ENVFIX_E2E=1 (make e2e): it fetches a Debian 11")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root for debootstrap and chroot")
	}
	t.Parallel() // it waits for a mirror
	root := oldDebian(t)
	if err := execute(nil, "cp", file(t, static, "envfix"), root); err != nil {
		t.Fatal(err)
	}

	out, err := exec.Command("chroot", root, "/envfix", "facts", "--json").Output()
	if err != nil {
		t.Fatalf("facts in the chroot: %v", err)
	}
	var facts machine.Machine
	if err := json.Unmarshal(out, &facts); err != nil {
		t.Fatalf("facts in the chroot: %v\n%s", err, out)
	}
	if got := facts.Platform.Libc; got == nil || got.Kind != "glibc" || got.Version.String() != "2.31" {
		t.Errorf("libc in the chroot = %+v, want glibc 2.31", got)
	}
	plan, err := exec.Command("chroot", root, "/envfix", "plan", "--gpu", "V100", "--driver", "580.95.05", "--python", "3.12").Output()
	if err != nil || !strings.Contains(string(plan), "2.14.1") {
		t.Errorf("plan in the chroot: %v\n%s", err, plan)
	}
}

// oldDebian returns the root of a minimal Debian 11, unpacked by debootstrap from the
// mirror that this system's apt uses: a static program needs none of it configured.
func oldDebian(t *testing.T) string {
	t.Helper()
	if err := debootstrap(); err != nil {
		t.Skipf("no debootstrap, and apt-get cannot install it: %v", err)
	}
	mirror, err := exec.Command("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").Output()
	if err != nil || len(mirror) == 0 {
		t.Skipf("apt names no mirror: %v", err)
	}
	root := t.TempDir()
	first, _, _ := strings.Cut(string(mirror), "\n")
	if out, err := exec.Command("debootstrap", "--foreign", "--variant=minbase", "bullseye", root, first).CombinedOutput(); err != nil {
		t.Fatalf("debootstrap: %v\n%s", err, out)
	}
	return root
}
