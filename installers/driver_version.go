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

// pinned names a package in one version.
func pinned(manager, name, version string) string {
	if manager == "dnf" {
		return name + "-" + version
	}
	return name + "=" + version
}

// command is the command that rehearses, downloads or installs spec. The
// installation takes what was downloaded, and nothing else.
func (r *recipe) command(what, spec string) []string {
	words := map[string][]string{
		"apt-get rehearse": {"--simulate"}, "apt-get download": {"--download-only"}, "apt-get install": {"--no-download"},
		"dnf rehearse": {"--assumeno"}, "dnf download": {"--downloadonly", "-y"}, "dnf install": {"--cacheonly", "-y"},
		"zypper rehearse": {"--dry-run"}, "zypper download": {"--download-only"}, "zypper install": nil,
	}[r.manager+" "+what]
	if what == "install" && r.onDisk { // apt does not find them with the flag: "Pathname to install is not absolute"
		words = nil
	}
	head := []string{r.manager, "install"}
	if r.manager == "zypper" { // has no word for the cache alone; it does not fetch what it has
		head = []string{r.manager, "--non-interactive", "--no-refresh", "install"}
	}
	return slices.Concat(head, words, r.flags, []string{spec})
}

func (r *recipe) remove() []string {
	if r.manager == "zypper" {
		return []string{r.manager, "--non-interactive", "remove", r.name}
	}
	return []string{r.manager, "remove", "-y", r.name}
}

// rehearsal shows what the installation would do before anything is done.
func rehearsal(r *recipe, spec string, mayRemove []string) plan.Step {
	s := command("driver-rehearse", "rehearse the installation",
		"so that nothing is removed but the driver that is replaced, such as a desktop or a kernel",
		r.command("rehearse", spec))
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
	argv := map[string][]string{"apt-get": {"apt-mark", "unhold"}, "dnf": {"dnf", "versionlock", "delete"}, "zypper": {"zypper", "--non-interactive", "removelock"}}[r.manager]
	own := slices.Sorted(slices.Values(b.h.DriverPackages.OwnHolds))
	b.add(command("driver-unhold", "lift envfix's own hold on the driver", "an earlier plan set it, and this one sets its own", slices.Concat(argv, own)))
}

// hold keeps what is installed at its version. It is written down first: a hold
// that nobody wrote down would be taken for somebody else's.
func (b *builder) hold(r *recipe, what string) {
	b.add(plan.Step{ID: "driver-held", Title: "write down what envfix holds back", Why: "so that a later plan of envfix may lift it", Root: true,
		Write: &plan.Write{Path: heldRecord, Mode: 0o644, Content: what + "\n"}})
	argv := map[string][]string{"apt-get": {"apt-mark", "hold"}, "dnf": {"dnf", "versionlock", "add"}, "zypper": {"zypper", "--non-interactive", "addlock"}}[r.manager]
	s := command("driver-hold", "hold the driver back from unattended upgrades",
		"an upgrade behind one's back parts library and kernel module until the next reboot, and every job fails meanwhile",
		append(slices.Clone(argv), what))
	if undo := map[string][]string{"apt-get": {"apt-mark", "unhold", what}, "zypper": {"zypper", "--non-interactive", "removelock", what}}[r.manager]; undo != nil {
		s.Undo = &plan.Run{Argv: undo}
	}
	b.add(s)
}
