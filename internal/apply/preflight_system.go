package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/system"
)

// A packager is what has to be well with a package manager before it is used.
type packager struct {
	locks []string   // POSIX locks; who holds one is at work
	clean [][]string // commands that print nothing where all is well
	check [][]string // commands that exit 0 where all is well
	held  []string   // prints the packages that are held back
	mend  string     // what a person runs to put it in order
}

var packagers = map[string]packager{
	"apt-get": {
		locks: []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"},
		clean: [][]string{{"dpkg", "--audit"}},
		check: [][]string{{"apt-get", "check"}},
		held:  []string{"apt-mark", "showhold"},
		mend:  "`sudo dpkg --configure -a && sudo apt-get -f install`",
	},
	"dnf":    {locks: []string{"/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"}, mend: "`sudo dnf check`"},
	"zypper": {locks: []string{"/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"}, mend: "`sudo zypper verify`"},
}

// preflightSystem refuses what would leave the package manager or the GPU's users
// in a bad state.
func (r *run) preflightSystem(ctx context.Context) error {
	driver := false
	seen := map[string]bool{}
	for i, s := range r.plan.Steps {
		if !s.Root || s.Run == nil {
			continue
		}
		if done, err := r.carriedOn(ctx, i); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		driver = driver || strings.HasPrefix(s.ID, "driver")
		name := filepath.Base(s.Run.Argv[0])
		if p, known := packagers[name]; known && !seen[name] {
			seen[name] = true
			if err := p.ready(ctx, r.plan.Steps); err != nil {
				return err
			}
		}
	}
	if !driver {
		return nil
	}
	if err := r.signable(); err != nil {
		return err
	}
	if pids := system.Openers("/dev/nvidia"); len(pids) > 0 {
		return &Error{Kind: Preflight, Text: fmt.Sprintf("%d processes use the GPU (%s): they would fail when the driver changes", len(pids), numbers(pids)),
			Hints: []string{"end them, then run the command again"}}
	}
	return systemSpace()
}

func numbers(pids []int) string {
	var out []string
	for _, p := range pids[:min(5, len(pids))] {
		out = append(out, strconv.Itoa(p))
	}
	if len(pids) > 5 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// ready refuses a package manager that is at work, that stopped half-way, or that
// holds back what is to be installed.
func (p packager) ready(ctx context.Context, steps []plan.Step) error {
	for _, lock := range p.locks {
		pid, err := system.Holder(lock)
		if err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
		if pid != 0 {
			return &Error{Kind: Busy, Text: fmt.Sprintf("process %d holds %s: another package manager is at work", pid, lock),
				Hints: []string{"wait until it is done, then run the command again"}}
		}
	}
	for _, argv := range p.clean {
		out, err := output(ctx, argv)
		if err != nil {
			return err
		}
		if out != "" {
			return p.untidy(argv, out)
		}
	}
	if os.Geteuid() == 0 { // apt-get check takes the lock, which only root may
		for _, argv := range p.check {
			out, err := output(ctx, argv)
			var exit *system.ExitError
			if errors.As(err, &exit) {
				return p.untidy(argv, out+strings.Join(exit.Tail, "\n"))
			}
			if err != nil {
				return err
			}
		}
	}
	if p.held == nil {
		return nil
	}
	out, err := output(ctx, p.held)
	if err != nil {
		return err
	}
	return heldBack(strings.Fields(out), steps)
}

func (p packager) untidy(argv []string, out string) error {
	return &Error{Kind: Preflight, Text: fmt.Sprintf("`%s` says that the system's packages are not in order", strings.Join(argv, " ")),
		Details: strings.Split(strings.TrimSpace(out), "\n"), Hints: []string{p.mend + ", then run the command again"}}
}

// heldBack refuses to install what an administrator holds at its version.
func heldBack(held []string, steps []plan.Step) error {
	for _, s := range steps {
		if !s.Root || s.Run == nil || !slices.Contains(s.Run.Argv, "install") {
			continue
		}
		for _, h := range held {
			if slices.Contains(s.Run.Argv, h) {
				return &Error{Kind: Preflight, Text: fmt.Sprintf("%s is held at its version, and the plan changes it", h),
					Hints: []string{fmt.Sprintf("`sudo apt-mark unhold %s` lets it change", h)}}
			}
		}
	}
	return nil
}

func output(ctx context.Context, argv []string) (string, error) {
	var b bytes.Buffer
	err := system.Run(ctx, system.Command{Argv: argv, Raw: &b, Root: os.Geteuid() == 0})
	return strings.TrimSpace(b.String()), err
}

// signable refuses a kernel module that Secure Boot would not load: one that is
// built here, where no key of this machine is enrolled to sign it.
func (r *run) signable() error {
	on := r.plan.Basis.Facts.Platform.SecureBoot
	if on == nil || !*on || r.plan.Basis.Facts.Platform.Distro == "ubuntu" { // whose modules are signed
		return nil
	}
	for _, key := range []string{"/var/lib/dkms/mok.pub", "/var/lib/shim-signed/mok/MOK.der", "/etc/pki/akmods/certs/public_key.der"} {
		if _, err := os.Stat(key); err == nil {
			return nil
		}
	}
	return &Error{Kind: Preflight, Text: "Secure Boot is on, and there is no key here that could sign the kernel module",
		Hints: []string{"make a key and enrol it (`mokutil --import`), or turn Secure Boot off in the firmware"}}
}

// systemRoom is how much a driver needs where: 126 packages of Debian's
// nvidia-driver take 0.9 GB, and a kernel's new initramfs 60 MB.
var systemRoom = []struct {
	dir  string
	need uint64
}{{"/", 2 << 30}, {"/boot", 100 << 20}}

func systemSpace() error {
	for _, room := range systemRoom {
		free, _, err := system.Free(room.dir)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		if free < room.need {
			return &Error{Kind: Preflight, Text: fmt.Sprintf("%s has %s free, and a driver needs about %s there", room.dir, size(int64(free)), size(int64(room.need)))}
		}
	}
	return nil
}
