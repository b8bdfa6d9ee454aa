package apply

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/plan"
)

// CheckRoot refuses a step that may not run with root's rights: anything but the
// few commands that installing a driver takes. It is asked again by the process
// that has the rights, which believes nobody.
func CheckRoot(s plan.Step) error {
	bad := func(format string, args ...any) error {
		return &Error{Kind: Privilege, Text: fmt.Sprintf("step %q may not run as root: ", s.ID) + fmt.Sprintf(format, args...),
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
	"DEBIAN_FRONTEND":          "noninteractive",
	"NEEDRESTART_MODE":         "l",
	"NEEDRESTART_SUSPEND":      "1",
	"UCF_FORCE_CONFFOLD":       "1",
	"APT_LISTCHANGES_FRONTEND": "none",
	"LC_ALL":                   "C",
}

// A verb is a command line: words that must stand as they are, then operands that
// match, at least one of them where any are allowed.
type verb struct {
	words    []string
	options  func() *regexp.Regexp // may stand between the words and the operands
	operands func() *regexp.Regexp // nil: none
	most     int                   // how many operands; 0: any number
}

func (v verb) admits(args []string) bool {
	for _, w := range v.words {
		if len(args) == 0 || args[0] != w {
			return false
		}
		args = args[1:]
	}
	for v.options != nil && len(args) > 0 && v.options().MatchString(args[0]) {
		if args[0] == "-o" { // apt's: its value follows
			if len(args) < 2 || !aptOption().MatchString(args[1]) {
				return false
			}
			args = args[1:]
		}
		args = args[1:]
	}
	if v.operands == nil {
		return len(args) == 0
	}
	if len(args) == 0 || v.most > 0 && len(args) > v.most {
		return false
	}
	return !slices.ContainsFunc(args, func(a string) bool { return !v.operands().MatchString(a) })
}

// The grammars. A value that begins with a dash is an option to somebody.
var (
	aptFlag   = lazy.Regexp(`^(-y|-q|-o|--yes|--allow-downgrades|--simulate|--download-only|--no-download|--no-install-recommends)$`)
	aptOption = lazy.Regexp(`^(Dpkg::Options::=--force-conf(def|old)|DPkg::Lock::Timeout=\d{1,4}|Acquire::Retries=\d)$`)
	// Debian policy 5.6.1 and 5.6.12: a package's name, and =version.
	debPackage = lazy.Regexp(`^[a-z0-9][a-z0-9+.-]+(=[0-9][A-Za-z0-9.+:~-]*)?$`)
	// An rpm package's name, and what follows it: -version for dnf, =version for zypper.
	rpmPackage = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9+._:-]*(=[0-9][A-Za-z0-9.+:~^_-]*)?$`)
	dnfPackage = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9+._:~^-]*$`)
	rpmGlob    = lazy.Regexp(`^\*?[A-Za-z0-9][A-Za-z0-9+._:*-]*$`)
	dnfFlag    = lazy.Regexp(`^(-y|-q|--assumeyes|--assumeno|--downloadonly|--cacheonly|--allowerasing|--refresh)$`)
	zypperFlag = lazy.Regexp(`^(--auto-agree-with-licenses|--download-only|--dry-run|--oldpackage|--force-resolution)$`)
	signingKey = lazy.Regexp(`^/[A-Za-z0-9._/@+-]+/[0-9A-F]{8}\.pub$`)
	repository = lazy.Regexp(`^cuda-[a-z0-9]+-(x86_64|sbsa)$`)
	keyring    = lazy.Regexp(`^/[A-Za-z0-9._/@+-]+/cuda-keyring_[0-9.]+-[0-9]+_all\.deb$`)
	module     = lazy.Regexp(`^nvidia(-uvm|-modeset|-drm)?$`)
	service    = lazy.Regexp(`^(nvidia-fabricmanager|nvidia-persistenced|unattended-upgrades)(\.service)?$|^apt-daily-upgrade\.timer$`)
)

// rootVerbs are the command lines that may run as root.
var rootVerbs = map[string][]verb{
	"apt-get": {
		{words: []string{"update"}, options: aptFlag},
		{words: []string{"install"}, options: aptFlag, operands: debPackage},
		{words: []string{"remove"}, options: aptFlag, operands: debPackage},
	},
	"apt-mark": {
		{words: []string{"hold"}, operands: debPackage},
		{words: []string{"unhold"}, operands: debPackage},
	},
	"dpkg": {
		{words: []string{"--install"}, operands: keyring, most: 1},
		{words: []string{"--configure", "-a"}},
	},
	"rpm": {{words: []string{"--import"}, operands: signingKey, most: 1}},
	"dnf": {
		{words: []string{"makecache"}},
		{words: []string{"install"}, options: dnfFlag, operands: dnfPackage},
		{words: []string{"remove"}, options: dnfFlag, operands: dnfPackage},
		{words: []string{"module", "enable"}, options: dnfFlag, operands: dnfPackage},
		{words: []string{"module", "reset"}, options: dnfFlag, operands: dnfPackage},
		{words: []string{"versionlock", "add"}, operands: rpmGlob},
		{words: []string{"versionlock", "delete"}, operands: dnfPackage},
	},
	"zypper": {
		{words: []string{"--non-interactive", "install"}, options: zypperFlag, operands: rpmPackage},
		{words: []string{"--non-interactive", "--no-refresh", "install"}, options: zypperFlag, operands: rpmPackage},
		{words: []string{"--non-interactive", "remove"}, operands: rpmPackage},
		{words: []string{"--non-interactive", "refresh"}, operands: repository, most: 1},
		{words: []string{"--non-interactive", "addlock"}, operands: rpmPackage},
		{words: []string{"--non-interactive", "removelock"}, operands: rpmPackage},
	},
	"modprobe":         {{operands: module, most: 1}},
	"update-initramfs": {{words: []string{"-u"}}},
	"dracut":           {{words: []string{"-f"}}, {words: []string{"--force"}}},
	"systemctl": {
		{words: []string{"enable", "--now"}, operands: service, most: 1},
		{words: []string{"start"}, operands: service, most: 1},
		{words: []string{"stop"}, operands: service, most: 1},
	},
}
