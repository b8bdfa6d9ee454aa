package apply

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
)

// preflightSystem refuses what would leave the package manager, the kernel or the
// GPU's users in a bad state. It looks at what is left to do only: a plan that
// goes on after a reboot is not held up by what it did before.
func (r *run) preflightSystem(ctx context.Context) error {
	var left []plan.Step
	for i, s := range r.plan.Steps {
		if !s.Root || s.Run == nil {
			continue
		}
		done, err := r.carriedOn(ctx, i)
		if err != nil {
			return err
		}
		if !done {
			left = append(left, s)
		}
	}
	for _, name := range packagersOf(left) {
		if err := r.on.ready(ctx, name, left); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(left, isDriver) {
		return nil
	}
	checks := []func() error{r.loadable, r.on.unused, func() error { return r.on.space(driverRoom) }}
	if slices.ContainsFunc(left, installsDriver) {
		checks = append(checks, r.on.noRunFile, r.kernel, r.signable)
	}
	return inOrder(checks...)
}

func isDriver(s plan.Step) bool { return strings.HasPrefix(s.ID, "driver") }

// installsDriver reports the step that puts the driver's packages into place.
func installsDriver(s plan.Step) bool {
	return s.ID == "driver" && len(packagersOf([]plan.Step{s})) > 0
}

// loadable refuses to load NVIDIA's module beside the kernel's own driver, which
// holds the GPU until the next boot.
func (r *run) loadable() error {
	if _, err := os.Stat(r.on.root + "/sys/module/nouveau"); err != nil {
		return nil
	}
	for _, s := range r.plan.Steps {
		if s.Manual != nil && s.Manual.Reboot {
			return nil
		}
	}
	return refused("write `blacklist nouveau` and `options nouveau modeset=0` into "+nouveauFile+
		", rebuild the initramfs (`update-initramfs -u` or `dracut --force`), and reboot", "nouveau drives the GPU: NVIDIA's module does not load beside it")
}

// unused refuses while programs use the GPU: they fail when the driver changes.
func (m host) unused() error {
	users := system.Openers(m.root, "/dev/nvidia")
	if len(users) == 0 {
		return nil
	}
	e := refused("end them, then run the command again", "%d processes use the GPU (%s): they would fail when the driver changes", len(users), m.named(users))
	if strings.Contains(e.Text, "nvidia-persiste") {
		e.Hints = []string{
			"`sudo systemctl stop nvidia-persistenced` ends NVIDIA's own; the new driver starts it again",
			"end the others, then run the command again",
		}
	}
	return e
}

// named lists processes by number and by what they call themselves.
func (m host) named(pids []int) string {
	var out []string
	for _, p := range pids[:min(5, len(pids))] {
		name := strconv.Itoa(p)
		if b, err := os.ReadFile(m.root + "/proc/" + name + "/comm"); err == nil {
			name += " " + text.Printable(strings.TrimSpace(string(b)))
		}
		out = append(out, name)
	}
	if len(pids) > 5 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// noRunFile refuses to install packages over a driver of NVIDIA's .run file: its
// files are nobody's, and a mixture of two drivers is what comes of it.
func (m host) noRunFile() error {
	const uninstaller = "/usr/bin/nvidia-uninstall"
	if _, err := os.Stat(m.root + uninstaller); err != nil {
		return nil
	}
	return &fail.Error{Code: fail.Preflight, Text: "the driver here was installed by NVIDIA's .run file: packages over it would leave two drivers in one system",
		Hints: []string{"`sudo " + uninstaller + "` removes it; then `envfix apply --change-driver` again"}}
}

// kernel refuses to build a module for a kernel that is not the running one: the
// plan was made under another, its modules are gone, or its headers are not to be
// had.
func (r *run) kernel() error {
	b, err := os.ReadFile(r.on.root + "/proc/sys/kernel/osrelease")
	running := strings.TrimSpace(string(b))
	if err != nil || running == "" {
		return nil
	}
	if was := r.plan.Basis.Facts.Platform.Kernel; was != "" && was != running {
		e := refused("`envfix plan` makes a new one", "the plan was made under kernel %s, and %s runs: its headers are another package", was, running)
		e.Code = fail.Stale
		return e
	}
	dir := r.on.root + "/lib/modules/" + filepath.Base(running)
	if _, err := os.Stat(dir); gone(err) {
		return refused("reboot into the new kernel, then `envfix plan` again",
			"the modules of the kernel that runs (%s) are gone: it was replaced by an update since the last boot", running)
	}
	if _, err := os.Stat(r.on.headers(dir)); err == nil {
		return nil
	}
	for _, s := range r.plan.Steps { // the plan brings them
		if s.Root && s.Run != nil && slices.ContainsFunc(s.Run.Argv, func(a string) bool { return headersOf(a, running) }) {
			return nil
		}
	}
	return refused("install linux-headers, kernel-devel or kernel-default-devel in the kernel's own version, then run the command again",
		"the headers of the kernel that runs (%s) are not installed, and the plan does not bring them: the driver's module could not be built", running)
}

// headers is where the link "build" of a kernel's modules leads.
func (m host) headers(modules string) string {
	to, err := os.Readlink(modules + "/build")
	switch {
	case err != nil:
		return modules + "/build"
	case filepath.IsAbs(to):
		return m.root + to
	}
	return filepath.Join(modules, to)
}

// headersOf reports whether an operand names the headers of a kernel. SUSE's have
// the flavour in their name and the rest as their version.
func headersOf(operand, kernel string) bool {
	version := kernel
	if i := strings.LastIndexByte(kernel, '-'); i > 0 && strings.HasSuffix(strings.Split(operand, "=")[0], "-devel") {
		version = kernel[:i]
	}
	return strings.Contains(operand, version) && (strings.Contains(operand, "headers") || strings.Contains(operand, "-devel"))
}

// The EFI variables of Secure Boot and of the keys that the machine's owner
// enrolled (shim's MokListRT.md).
const (
	secureBootVar = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	ownerKeysVar  = "/sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23"
)

// signable refuses a kernel module that Secure Boot would not load: one that is
// built here, where no key of this machine is enrolled to sign it.
func (r *run) signable() error {
	if !r.secureBoot() || r.plan.Basis.Facts.Platform.Distro == "ubuntu" { // whose modules are signed
		return nil
	}
	enrolled, enrolledErr := os.ReadFile(r.on.root + ownerKeysVar)
	made := ""
	for _, key := range []string{"/var/lib/dkms/mok.pub", "/var/lib/shim-signed/mok/MOK.der", "/etc/pki/akmods/certs/public_key.der"} {
		b, err := os.ReadFile(r.on.root + key)
		if err != nil || len(b) == 0 {
			continue
		}
		// Where the firmware's list cannot be read, the key's being there has to do.
		if enrolledErr != nil || strings.Contains(string(enrolled), string(b)) {
			return nil
		}
		made = key
	}
	if made != "" {
		return refused("`sudo mokutil --import "+made+"`, then reboot and confirm it at the console; or turn Secure Boot off in the firmware",
			"Secure Boot is on, and the key that signs kernel modules here (%s) is not enrolled in the firmware", made)
	}
	return refused("make a key and enrol it (`mokutil --import`), or turn Secure Boot off in the firmware",
		"Secure Boot is on, and there is no key here that could sign the kernel module")
}

// secureBoot reads the EFI variable (four bytes of attributes, one of value), and
// takes the plan's facts where it cannot be read.
func (r *run) secureBoot() bool {
	if b, err := os.ReadFile(r.on.root + secureBootVar); err == nil && len(b) == 5 {
		return b[4] == 1
	}
	on := r.plan.Basis.Facts.Platform.SecureBoot
	return on != nil && *on
}

// A room is how much is needed in a directory.
type room struct {
	dir  string
	need uint64
}

// driverRoom is how much a driver needs where: 126 packages of Debian's
// nvidia-driver take 0.9 GB, and a kernel's new initramfs 60 MB.
var driverRoom = []room{{"/", 2 << 30}, {"/boot", 100 << 20}}

func (m host) space(rooms []room) error {
	for _, room := range rooms {
		free, _, err := system.Free(m.root + room.dir)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		if free < room.need {
			return refused("make space there (`sudo apt-get clean`, `sudo dnf clean packages` or old kernels), then run the command again",
				"%s has %s free, and a driver needs about %s there", room.dir, size(int64(free)), size(int64(room.need)))
		}
	}
	return nil
}

// heldBack refuses to install what somebody holds at its version. What envfix held
// itself, the plan lifts in a step that can be seen.
func (p packager) heldBack(held []string, left []plan.Step) error {
	for _, h := range held {
		if slices.ContainsFunc(left, func(s plan.Step) bool { return lifts(s, h) }) || !changed(h, left) {
			continue
		}
		return refused(fmt.Sprintf(p.lift, h)+" lets it change", "%s is held at its version, and the plan changes it", h)
	}
	return nil
}

// lifts reports whether a step lifts the hold on a package.
func lifts(s plan.Step, held string) bool {
	return slices.ContainsFunc([]string{"unhold", "delete", "removelock"}, func(w string) bool { return slices.Contains(s.Run.Argv, w) }) &&
		slices.Contains(s.Run.Argv, held)
}

// sets reports whether a step holds a package.
func sets(s plan.Step, name string) bool {
	return (slices.Contains(s.Run.Argv, "hold") || slices.Contains(s.Run.Argv, "addlock")) && slices.Contains(s.Run.Argv, name)
}

// changed reports whether the steps would change a package that matches held: by
// its name, or as a part of the driver that they install.
func changed(held string, left []plan.Step) bool {
	for _, s := range left {
		if !slices.Contains(s.Run.Argv, "install") {
			continue
		}
		if name := strings.Trim(held, "*"); installsDriver(s) && (machine.DriverPackage(name) || name == "nvidia") {
			return true
		}
		for _, a := range s.Run.Argv {
			name, _, _ := strings.Cut(a, "=")
			if ok, _ := path.Match(held, name); ok {
				return true
			}
		}
	}
	return false
}
