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
	"time"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
)

// A packager is what has to be well with a package manager before it is used.
type packager struct {
	locks []string   // POSIX locks; who holds one is at work
	pids  []string   // files with the number of the process that is at work
	clean [][]string // commands that print nothing where all is well
	check [][]string // commands that exit 0 where all is well; for root alone
	mend  string     // what a person runs to put it in order
	lift  string     // what lifts the hold on a package
}

var rpmLocks = []string{"/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"}

var packagers = map[string]packager{
	"apt-get": {
		locks: []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"},
		clean: [][]string{{"dpkg", "--audit"}},
		check: [][]string{{"apt-get", "check"}},
		mend:  "`sudo dpkg --configure -a && sudo apt-get -f install`",
		lift:  "`sudo apt-mark unhold %s`",
	},
	// dnf4 writes its number (dnf/lock.py); dnf5 locks the file.
	"dnf": {
		locks: append(slices.Clone(rpmLocks), "/run/dnf/rpmtransaction.lock"),
		pids:  []string{"/var/lib/dnf/rpmdb_lock.pid", "/var/cache/dnf/metadata_lock.pid", "/var/cache/dnf/download_lock.pid"},
		check: [][]string{{"rpmdb", "--verifydb"}},
		mend:  "`sudo rpmdb --rebuilddb` for a damaged database, `sudo dnf remove --duplicates` for a transaction that was cut off",
		lift:  "`sudo dnf versionlock delete '%s'` (or taking it out of excludepkgs in /etc/dnf/dnf.conf)",
	},
	"zypper": { // libzypp writes its number, and empties the file
		locks: rpmLocks,
		pids:  []string{"/run/zypp.pid", "/var/run/zypp.pid"},
		check: [][]string{{"rpmdb", "--verifydb"}},
		mend:  "`sudo rpmdb --rebuilddb` for a damaged database, `sudo zypper verify` for a transaction that was cut off",
		lift:  "`sudo zypper removelock '%s'`",
	},
}

// packagersOf lists the package managers that steps run.
func packagersOf(steps []plan.Step) (out []string) {
	for _, s := range steps {
		if s.Run == nil {
			continue
		}
		name := filepath.Base(s.Run.Argv[0])
		if _, known := packagers[name]; known && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ready refuses a package manager that is at work, that stopped half-way, or that
// holds back what is to be installed.
func (m host) ready(ctx context.Context, name string, left []plan.Step) error {
	p := packagers[name]
	if err := m.idle(p); err != nil {
		return err
	}
	for _, argv := range p.clean {
		out, err := m.output(ctx, argv)
		if err != nil {
			return err
		}
		if out != "" {
			return p.untidy(argv, out)
		}
	}
	if os.Geteuid() == 0 || m.programs != "" { // apt-get check takes the lock, which only root may
		for _, argv := range p.check {
			out, err := m.output(ctx, argv)
			var exit *system.ExitError
			if errors.As(err, &exit) {
				return p.untidy(argv, out+strings.Join(exit.Tail, "\n"))
			}
			if err != nil {
				return err
			}
		}
	}
	if name != "apt-get" {
		if err := m.cutOff(ctx, p); err != nil {
			return err
		}
	}
	var held []string
	own := m.ownRecord()
	for _, h := range m.holds(ctx, name) {
		// envfix's own: dnf's lock stands before the installation, and a plan that
		// failed late and is run again meets the hold that it set itself.
		if !h.among(own) || name != "dnf" && !slices.ContainsFunc(left, func(s plan.Step) bool { return sets(s, h.name) }) {
			held = append(held, h.name)
		}
	}
	return p.heldBack(held, left)
}

// idle refuses while another process uses the package manager. dpkg and rpm lock
// with fcntl, which flock would not see; dnf4 and libzypp leave their number.
func (m host) idle(p packager) error {
	busy := func(pid int, lock string) error {
		return &fail.Error{Code: fail.Busy, Text: fmt.Sprintf("process %s holds %s: another package manager is at work", m.named([]int{pid}), lock),
			Hints: []string{"wait until it is done, then run the command again"}}
	}
	for _, lock := range p.locks {
		pid, err := system.Holder(m.root + lock)
		if err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
		if pid != 0 {
			return busy(pid, lock)
		}
	}
	for _, file := range p.pids {
		b, _ := os.ReadFile(m.root + file)
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil || pid <= 0 {
			continue
		}
		if _, err := os.Stat(m.root + "/proc/" + strconv.Itoa(pid)); err == nil { // else a crash left it
			return busy(pid, file)
		}
	}
	return nil
}

func (p packager) untidy(argv []string, out string) error {
	return &fail.Error{Code: fail.Preflight, Text: fmt.Sprintf("`%s` says that the system's packages are not in order", strings.Join(argv, " ")),
		Details: strings.Split(strings.TrimSpace(out), "\n"), Hints: []string{p.mend + ", then run the command again"}}
}

// cutOff refuses after an rpm transaction that ended half-way: a package of the
// driver is then there in two versions, the new one's files over the old one's.
func (m host) cutOff(ctx context.Context, p packager) error {
	out, err := m.output(ctx, allRPMs)
	if err != nil {
		return err
	}
	seen := map[string]string{}
	for _, r := range pairs(out) {
		if was, twice := seen[r.name]; twice && was != r.version && machine.DriverPackage(r.name) {
			return refused(p.mend+", then run the command again", "%s is installed in two versions (%s, %s): a transaction was cut off", r.name, was, r.version)
		}
		seen[r.name] = r.version
	}
	return nil
}

// output runs a command that changes nothing and returns what it printed, in
// English and within a time limit.
func (m host) output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var b bytes.Buffer
	err := system.Run(ctx, system.Command{Argv: m.argv(argv), Env: map[string]string{"LC_ALL": "C"}, Raw: &b, Root: os.Geteuid() == 0 && m.programs == ""})
	return strings.TrimSpace(b.String()), err
}

// askLimit bounds a question to a package manager: with cold caches apt takes two
// seconds, and zypper ten.
const askLimit = 30 * time.Second
