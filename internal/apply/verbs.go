package apply

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/plan"
)

// CheckRoot refuses a step that may not run with root's rights: anything but the
// few commands that installing a driver takes. It is asked again by the process
// that has the rights, which believes nobody.
func CheckRoot(s plan.Step) error {
	bad := func(format string, args ...any) error {
		return &fail.Error{Code: fail.Privilege, Text: fmt.Sprintf("step %q may not run as root: ", s.ID) + fmt.Sprintf(format, args...),
			Hints: []string{"run it by hand if you trust it"}}
	}
	switch {
	case s.Write != nil:
		if !rootFile(s.Write.Path) {
			return bad("%q is not a file that a driver's installation writes", s.Write.Path)
		}
		if why := rootContent(s.Write); why != "" {
			return bad("%s", why)
		}
		return nil
	case s.Run == nil:
		return bad("only commands and a few files are for root")
	case s.Run.Dir != "":
		return bad("it names a working directory")
	case len(s.Run.Argv) == 0:
		return bad("it runs nothing")
	}
	for name, value := range s.Run.Env {
		if want, known := rootEnv[name]; !known || want != value {
			return bad("the variable %s=%q is not among those for root", name, value)
		}
	}
	name := s.Run.Argv[0]
	if strings.Contains(name, "/") {
		dir, base := path.Split(name)
		if !slices.Contains([]string{"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"}, dir) {
			return bad("%s is not one of the system's programs", name)
		}
		name = base
	}
	for _, v := range rootVerbs[name] {
		if v.admits(s.Run.Argv[1:]) {
			return nil
		}
	}
	return bad("%q is not among the commands for root", strings.Join(s.Run.Argv, " "))
}

// rootEnv are the variables that a command for root may be given, with the one
// value that each may have.
var rootEnv = map[string]string{
	"DEBIAN_FRONTEND":  "noninteractive",
	"NEEDRESTART_MODE": "l",
	"LC_ALL":           "C",
}

// A verb is a command line: words that must stand as they are, then options, then
// operands, at least one of them where any are allowed.
type verb struct {
	words    []string
	options  func() *regexp.Regexp // may stand between the words and the operands
	operands func(string) bool     // nil: none
	most     int                   // how many operands; 0: any number
}

func (v verb) admits(args []string) bool {
	for _, w := range v.words {
		if len(args) == 0 || args[0] != w {
			return false
		}
		args = args[1:]
	}
	options, args, ok := v.cutOptions(args)
	switch {
	case !ok || contradict(options):
		return false
	case v.operands == nil:
		return len(args) == 0
	case len(args) == 0 || v.most > 0 && len(args) > v.most:
		return false
	}
	forced := slices.ContainsFunc(options, func(o string) bool { return slices.Contains(forcing, o) })
	return !slices.ContainsFunc(args, func(a string) bool {
		return !v.operands(a) || forced && !machine.DriverPackage(strings.Split(a, "=")[0])
	})
}

// cutOptions cuts the options in front off, each known to the verb.
func (v verb) cutOptions(args []string) (options, rest []string, ok bool) {
	rest = args
	for v.options != nil && len(rest) > 0 && v.options().MatchString(rest[0]) {
		if rest[0] == "-o" { // apt's: its value follows
			if len(rest) < 2 || !aptOption().MatchString(rest[1]) {
				return nil, nil, false
			}
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	return args[:len(args)-len(rest)], rest, true
}

// contradict reports options of which one shows only and the other agrees: which of
// them counts is for dnf to say, and a rehearsal is none where the other does.
func contradict(options []string) bool {
	return slices.Contains(options, "--assumeno") && (slices.Contains(options, "-y") || slices.Contains(options, "--assumeyes"))
}

// forcing are the options by which a package goes back to an older version or
// another one goes: they are for the driver alone.
var forcing = []string{"--allow-downgrades", "--allowerasing", "--oldpackage", "--force-resolution"}

// The grammars. A value that begins with a dash is an option to somebody. A package
// is named as it is, and is one of the driver's, of the running kernel's headers or
// of the distribution's Python:
// apt takes "name-" for a removal, "name+" for an installation, and a name that no
// package has for a regular expression (apt-get(8)); dnf and zypper take what ends
// in .rpm or holds a slash for a file, whose signature nobody checks.
var (
	aptFlag    = lazy.Regexp(`^(-y|-q|-o|--yes|--allow-downgrades|--simulate|--download-only|--no-download|--no-install-recommends)$`)
	aptOption  = lazy.Regexp(`^(Dpkg::Options::=--force-conf(def|old)|DPkg::Lock::Timeout=\d{1,4}|Acquire::Retries=\d)$`)
	dnfFlag    = lazy.Regexp(`^(-y|-q|--assumeyes|--assumeno|--downloadonly|--cacheonly|--allowerasing|--refresh)$`)
	zypperFlag = lazy.Regexp(`^(--auto-agree-with-licenses|--download-only|--dry-run|--oldpackage|--force-resolution)$`)

	// Debian policy 5.6.1 and 5.6.12, without what apt reads as more than a name.
	debName    = lazy.Regexp(`^[a-z0-9][a-z0-9-]*[a-z0-9]$`)
	debHeaders = lazy.Regexp(`^linux-headers-[0-9][a-z0-9.+~-]*[a-z0-9]$`)
	debVersion = lazy.Regexp(`^[0-9][A-Za-z0-9.+:~-]*$`)
	rpmName    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]*[A-Za-z0-9]$`)
	rpmVersion = lazy.Regexp(`^[0-9][A-Za-z0-9.+:~^_-]*$`)
	dnfHeaders = lazy.Regexp(`^kernel-devel-[0-9][A-Za-z0-9.+~^_-]*$`)
	suseDevel  = lazy.Regexp(`^kernel-[a-z0-9_]+-devel$`)
	dnfLocked  = lazy.Regexp(`^\*nvidia\*[0-9]{3,4}(\.[0-9]{1,4}){0,3}\*$`)
	dnfStream  = lazy.Regexp(`^nvidia-driver:[0-9]{3,4}-(open|dkms)$`)

	// The Python of a distribution: python3, python3.12-venv, python311-pip.
	python = lazy.Regexp(`^python3(\.?[0-9]{1,2})?(-venv|-pip)?$`)

	signingKey = lazy.Regexp(`^/[A-Za-z0-9._/@+-]+/[0-9A-F]{8}\.pub$`)
	repository = lazy.Regexp(`^cuda-[a-z0-9]+-(x86_64|sbsa)$`)
	module     = lazy.Regexp(`^nvidia(-uvm|-modeset|-drm)?$`)
)

func isDebDriver(a string) bool { return debName().MatchString(a) && machine.DriverPackage(a) }

// isDebInstall admits a name of the driver's or the headers', and =version.
func isDebInstall(a string) bool {
	name, version, exact := strings.Cut(a, "=")
	return !exact && python().MatchString(a) || (isDebDriver(name) || debHeaders().MatchString(name)) && (!exact || debVersion().MatchString(version))
}

func isRPMDriver(a string) bool { return rpmName().MatchString(a) && machine.DriverPackage(a) }

// isDNFInstall admits a name, and -version behind it; there is no telling them
// apart but by the digit that a version begins with.
func isDNFInstall(a string) bool {
	if strings.HasSuffix(a, ".rpm") {
		return false
	}
	if isRPMDriver(a) || dnfHeaders().MatchString(a) || python().MatchString(a) || a == "python3-dnf-plugin-versionlock" {
		return true
	}
	for i := range a {
		if a[i] == '-' && isRPMDriver(a[:i]) && rpmVersion().MatchString(a[i+1:]) {
			return true
		}
	}
	return false
}

// isZypperInstall admits a name, and =version.
func isZypperInstall(a string) bool {
	if python().MatchString(a) {
		return true
	}
	name, version, exact := strings.Cut(a, "=")
	return !strings.HasSuffix(a, ".rpm") && (isRPMDriver(name) || suseDevel().MatchString(name)) && (!exact || rpmVersion().MatchString(version))
}

func matches(grammar func() *regexp.Regexp) func(string) bool {
	return func(a string) bool { return grammar().MatchString(a) }
}

// rootVerbs are the command lines that may run as root: those that the installers
// plan, and no more.
var rootVerbs = map[string][]verb{
	"apt-get": {
		{words: []string{"update"}},
		{words: []string{"install"}, options: aptFlag, operands: isDebInstall},
		{words: []string{"remove"}, options: aptFlag, operands: isDebDriver},
	},
	"apt-mark": {
		{words: []string{"hold"}, operands: isDebDriver},
		{words: []string{"unhold"}, operands: isDebDriver},
	},
	"gpg": {{words: []string{"--batch", "--yes", "--dearmor", "--output", plan.Keyring}, operands: matches(signingKey), most: 1}},
	"rpm": {{words: []string{"--import"}, operands: matches(signingKey), most: 1}},
	"dnf": {
		{words: []string{"makecache"}},
		{words: []string{"install"}, options: dnfFlag, operands: isDNFInstall},
		{words: []string{"remove"}, options: dnfFlag, operands: isRPMDriver},
		{words: []string{"module", "enable", "-y"}, operands: matches(dnfStream), most: 1},
		{words: []string{"module", "reset", "-y", "nvidia-driver"}},
		{words: []string{"versionlock", "add"}, operands: matches(dnfLocked), most: 1},
		{words: []string{"versionlock", "delete"}, operands: isRPMDriver},
	},
	"zypper": {
		{words: []string{"--non-interactive", "install"}, options: zypperFlag, operands: isZypperInstall},
		{words: []string{"--non-interactive", "--no-refresh", "install"}, options: zypperFlag, operands: isZypperInstall},
		{words: []string{"--non-interactive", "remove"}, operands: isRPMDriver},
		{words: []string{"--non-interactive", "refresh"}, operands: matches(repository), most: 1},
		{words: []string{"--non-interactive", "addlock"}, operands: isRPMDriver},
		{words: []string{"--non-interactive", "removelock"}, operands: isRPMDriver},
	},
	"modprobe":         {{operands: matches(module), most: 1}},
	"update-initramfs": {{words: []string{"-u"}}},
	"dracut":           {{words: []string{"-f"}}, {words: []string{"--force"}}},
}
