package installers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/matrix"
	"envfix/resolver"
)

// DriverPackages says which packages the driver's steps of a plan would be about,
// for who can ask the package manager for their versions: its name and theirs.
// Both are empty where the plan has no such steps.
func DriverPackages(m *matrix.Matrix, h machine.Machine, r resolver.Request, res *resolver.Resolution) (manager string, names []string) {
	b := &builder{m: m, h: h, r: r, res: res}
	if h.Platform.OS != "linux" || !b.driverSteps() {
		return "", nil
	}
	i := slices.IndexFunc(b.steps, func(s plan.Step) bool { return s.ID == "driver" && s.Run != nil })
	if i < 0 {
		return "", nil
	}
	rec, _ := b.recipe(res.Driver)
	names = []string{rec.name}
	if rec.headers != "" {
		names = append(names, rec.headers)
	}
	return rec.manager, names
}

// exact returns the newest version of the recipe's package that the package
// manager offers, that is of the branch and that is new enough; "" where it was
// not asked or offers none.
func (b *builder) exact(r *recipe, d resolver.DriverChoice) string {
	if b.h.DriverPackages == nil {
		return ""
	}
	best := ""
	offered := b.h.DriverPackages.Offered[r.name]
	for _, v := range offered {
		u := machine.Upstream(v)
		if !machine.PackageVersion(v) || fmt.Sprint(u.Major()) != d.Branch || u.Less(d.Minimum) {
			continue
		}
		if best == "" || machine.Upstream(best).Less(u) {
			best = v
		}
	}
	if best == "" && len(offered) > 0 {
		b.warn(
			"of %s the package manager knows %s so far, which does not do: the plan takes what its repository holds after it was read again",
			r.name, strings.Join(offered[:min(3, len(offered))], ", "))
	}
	return best
}

// A packageManager is the words in which one of a distribution's is told what to do.
type packageManager struct {
	install, remove, hold, unhold string
	rehearse, download, fetched   string // options of install: for show, without installing, of what was downloaded
	between                       string // a name and a version
}

// zypper has no word for the cache alone; it does not fetch what it has.
var packageManagers = map[string]packageManager{
	"apt-get": {install: "apt-get install", remove: "apt-get remove -y", hold: "apt-mark hold", unhold: "apt-mark unhold",
		rehearse: "--simulate", download: "--download-only", fetched: "--no-download", between: "="},
	"dnf": {install: "dnf install", remove: "dnf remove -y", hold: "dnf versionlock add", unhold: "dnf versionlock delete",
		rehearse: "--assumeno", download: "--downloadonly -y", fetched: "--cacheonly -y", between: "-"},
	"zypper": {install: "zypper --non-interactive --no-refresh install", remove: "zypper --non-interactive remove",
		hold: "zypper --non-interactive addlock", unhold: "zypper --non-interactive removelock", rehearse: "--dry-run", download: "--download-only", between: "="},
}

func (r *recipe) words() packageManager { return packageManagers[r.manager] }

// command is the command that rehearses, downloads or installs spec.
func (r *recipe) command(options, spec string) []string {
	return slices.Concat(strings.Fields(r.words().install+" "+options), r.flags, []string{spec})
}

// fetched has the installation take what was downloaded, and nothing else. Of a repository
// that is a folder here apt does not find it so: "Pathname to install is not absolute".
func (b *builder) fetched(r *recipe) string {
	if p := b.h.DriverPackages; r.manager == "apt-get" && p != nil && p.OnDisk {
		return ""
	}
	return r.words().fetched
}

// rehearsal shows what the installation would do before anything is done.
func rehearsal(r *recipe, spec string, mayRemove []string) plan.Step {
	s := command("driver-rehearse", "rehearse the installation",
		"so that nothing is removed but the driver that is replaced, such as a desktop or a kernel",
		r.command(r.words().rehearse, spec))
	s.Run.Env = maps.Clone(s.Run.Env)
	s.Run.Env["LC_ALL"] = "C" // what it says is read
	s.Rehearsal = &plan.Rehearsal{MayRemove: mayRemove}
	return s
}

// anyDriver are the driver's packages, where nobody asked which are installed.
var anyDriver = []string{"nvidia-*", "libnvidia-*", "xserver-xorg-video-nvidia*", "cuda-drivers*", "kmod-nvidia*", "akmod-nvidia*", "dkms-nvidia*",
	"linux-modules-nvidia-*", "linux-objects-nvidia-*", "linux-signatures-nvidia-*", "xorg-x11-nvidia*", "xorg-x11-drv-nvidia*"}

// mayRemove names the packages that the installation may replace: those of the
// driver that is there.
func (b *builder) mayRemove() []string {
	p := b.h.DriverPackages
	if p == nil {
		return anyDriver
	}
	return slices.Sorted(maps.Keys(p.Installed))
}

// heldRecord is where root's half writes down what envfix holds back, so that a
// later plan tells its own holds from those of an administrator, whichever
// project or user it is made for.
const heldRecord = "/var/lib/envfix/held"

// liftOwnHolds lifts what an earlier plan of envfix held back. What somebody else
// holds is not touched: the preflight refuses it.
func (b *builder) liftOwnHolds(r *recipe) {
	if b.h.DriverPackages == nil || len(b.h.DriverPackages.OwnHolds) == 0 {
		return
	}
	own := slices.Sorted(slices.Values(b.h.DriverPackages.OwnHolds))
	b.add(command("driver-unhold", "lift envfix's own hold on the driver", "an earlier plan set it, and this one sets its own",
		append(strings.Fields(r.words().unhold), own...)))
}

// hold keeps what is installed at its version. It is written down first: a hold
// that nobody wrote down would be taken for somebody else's.
func (b *builder) hold(r *recipe, what string) {
	b.add(plan.Step{ID: "driver-held", Title: "write down what envfix holds back", Why: "so that a later plan of envfix may lift it", Root: true,
		Write: &plan.Write{Path: heldRecord, Mode: 0o644, Content: what + "\n"}})
	s := command("driver-hold", "hold the driver back from unattended upgrades",
		"an upgrade behind one's back parts library and kernel module until the next reboot, and every job fails meanwhile",
		append(strings.Fields(r.words().hold), what))
	if r.manager != "dnf" {
		s.Undo = &plan.Run{Argv: append(strings.Fields(r.words().unhold), what)}
	}
	b.add(s)
}
