//go:build linux

package apply

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"envfix/internal/plan"
)

// A million command lines, drawn by breaking good and bad ones: what root's half
// admits is what a second reading of the rules admits, written apart from the first
// and without its expressions. See [CheckRoot].
func TestThreat11DrawnSteps(t *testing.T) {
	const steps = 1_000_000
	rng := rand.New(rand.NewPCG(11, 16))
	admitted := 0
	for range steps {
		argv := drawn(rng)
		got := CheckRoot(plan.Step{ID: "x", Run: &plan.Run{Argv: argv}}) == nil
		if want := second(argv); got != want {
			t.Fatalf("%q: admitted %v, by the second reading %v", argv, got, want)
		}
		if got {
			admitted++
		}
	}
	t.Logf("%d of %d drawn steps were admitted", admitted, steps)
	if admitted < steps/200 || admitted > steps/2 {
		t.Errorf("%d of %d drawn steps were admitted: the draw says little", admitted, steps)
	}
}

var seeds = strings.Split(strings.TrimSpace(`
apt-get update
apt-get install -y nvidia-driver-580-open=580.105.08-0ubuntu0.24.04.1
apt-get install --no-download -y -o Dpkg::Options::=--force-confdef --allow-downgrades nvidia-open
apt-get install -y linux-headers-6.1.0-30-amd64
apt-get remove -y cuda-drivers
apt-mark hold nvidia-open
apt-mark unhold libnvidia-compute-580
dnf makecache
dnf install --cacheonly -y --allowerasing nvidia-open-3:580.95.05-1.el9
dnf install -y kernel-devel-5.14.0-570.12.1.el9_6.x86_64
dnf install -y python3-dnf-plugin-versionlock
dnf remove -y nvidia-open
dnf install --assumeno --allowerasing nvidia-open
dnf module enable -y nvidia-driver:580-open
dnf module reset -y nvidia-driver
dnf versionlock add *nvidia*580.95.05*
dnf versionlock delete nvidia-open
zypper --non-interactive --no-refresh install --auto-agree-with-licenses nvidia-open-580=580.95.05-1
zypper --non-interactive install kernel-default-devel=6.4.0-150600.23.25.1
zypper --non-interactive remove cuda-drivers-580
zypper --non-interactive refresh cuda-sles15-x86_64
zypper --non-interactive addlock nvidia-open-580
zypper --non-interactive removelock nvidia-open-580
rpm --import /home/me/tools/D42D0685.pub
gpg --batch --yes --dearmor --output /usr/share/keyrings/cuda-archive-keyring.gpg /home/me/3BF863CC.pub
modprobe nvidia-uvm
update-initramfs -u
dracut --force
/usr/bin/apt-get update
/usr/bin/apt-get install -y --no-install-recommends python3 python3-venv
/usr/bin/zypper --non-interactive install python311 python311-pip
/usr/bin/dnf install -y python3.12 python3.12-pip
`), "\n")

var hostile = strings.Fields(`coreutils- lib. evil.rpm nvidia-open.rpm ./evil.deb /tmp/evil.deb nvidia-* nvidia.* @x -oDPkg::Pre-Invoke::=x -o -c -y -- --setopt=tsflags=x --root
--assumeno --assumeyes --allow-downgrades --oldpackage --allowerasing --simulate linux-headers-6.1.0 nvidia-container-toolkit openssl sudo libcuda1 nvidia libnvidia- cuda-drivers- cuda-drivers+ nvidia-open=1 nvidia-open=
kernel-devel-1 kernel-x-devel nvidia-driver:580-dkms nvidia-driver:x *nvidia*580* * /tmp/../D42D0685.pub https://x.example/D42D0685.pub bash sh /tmp/apt-get ../apt-get nvidia-open-1 nvidia-open-580-1.rpm`)

func drawn(rng *rand.Rand) []string {
	argv := strings.Fields(seeds[rng.IntN(len(seeds))])
	for range rng.IntN(4) {
		i := rng.IntN(len(argv))
		switch rng.IntN(7) {
		case 0:
			argv = slices.Delete(argv, i, i+1)
		case 1:
			argv = slices.Insert(argv, i, hostile[rng.IntN(len(hostile))])
		case 2:
			argv = append(argv, hostile[rng.IntN(len(hostile))])
		case 3:
			argv[i] = hostile[rng.IntN(len(hostile))]
		case 4: // a word of another command
			other := strings.Fields(seeds[rng.IntN(len(seeds))])
			argv = append(argv, other[rng.IntN(len(other))])
		case 5:
			const odd = "-+.*=:/~^@_;$ \n\x00aZ09\u202e"
			at := rng.IntN(len(argv[i]) + 1)
			argv[i] = argv[i][:at] + string([]rune(odd)[rng.IntN(len([]rune(odd)))]) + argv[i][at:]
		case 6:
			if at := rng.IntN(len(argv[i])); len(argv[i]) > 1 {
				argv[i] = argv[i][:at] + argv[i][at+1:]
			}
		}
		if len(argv) == 0 {
			return []string{"x"}
		}
	}
	return argv
}

const (
	letter  = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit   = "0123456789"
)

// only reports whether s is not empty and holds nothing but these characters.
func only(s, chars string) bool { return s != "" && strings.Trim(s, chars) == "" }

// edges reports whether s begins with one of the first characters and ends with one
// of the last.
func edges(s, first, last string) bool {
	return s != "" && strings.Contains(first, s[:1]) && strings.Contains(last, s[len(s)-1:])
}

// second reads the rules again.
func second(argv []string) bool {
	if slices.ContainsFunc(argv, func(a string) bool { return strings.ContainsAny(a, "\x00\n \u202e") }) {
		return false
	}
	program, args := argv[0], argv[1:]
	for _, dir := range []string{"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"} {
		if rest, ok := strings.CutPrefix(program, dir); ok && !strings.Contains(rest, "/") {
			program = rest
			break
		}
	}
	line := strings.Join(args, " ")
	one := func(prefix string) (string, bool) { // the one operand behind a prefix
		rest, ok := strings.CutPrefix(line, prefix+" ")
		return rest, ok && !strings.Contains(rest, " ") && rest != ""
	}
	switch program {
	case "apt-get":
		return line == "update" || len(args) > 1 && secondApt(args[0], args[1:])
	case "apt-mark":
		return len(args) > 1 && (args[0] == "hold" || args[0] == "unhold") && every(args[1:], debianDriver)
	case "dnf":
		if name, ok := one("versionlock add"); ok {
			inner, ok := strings.CutPrefix(strings.TrimSuffix(name, "*"), "*nvidia*")
			return ok && strings.HasSuffix(name, "*") && len(name) > len("*nvidia**") && branchOrVersion(inner)
		}
		if stream, ok := one("module enable -y"); ok {
			s, ok := strings.CutPrefix(stream, "nvidia-driver:")
			n, flavour, _ := strings.Cut(s, "-")
			return ok && only(n, digit) && (len(n) == 3 || len(n) == 4) && (flavour == "open" || flavour == "dkms")
		}
		if line == "makecache" || line == "module reset -y nvidia-driver" {
			return true
		}
		if len(args) > 2 && args[0] == "versionlock" && args[1] == "delete" {
			return every(args[2:], rpmDriver)
		}
		return len(args) > 1 && secondDnf(args[0], args[1:])
	case "zypper":
		return len(args) > 2 && args[0] == "--non-interactive" && secondZypper(args[1:])
	case "rpm":
		file, ok := one("--import")
		return ok && keyFile(file)
	case "gpg":
		file, ok := one("--batch --yes --dearmor --output /usr/share/keyrings/cuda-archive-keyring.gpg")
		return ok && keyFile(file)
	case "modprobe":
		return slices.Contains([]string{"nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm"}, line)
	case "update-initramfs":
		return line == "-u"
	case "dracut":
		return line == "-f" || line == "--force"
	}
	return false
}

func every(list []string, ok func(string) bool) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

// options splits what stands before the operands.
func options(args, known []string) (options, operands []string) {
	for i, a := range args {
		if !slices.Contains(known, a) {
			return args[:i], args[i:]
		}
	}
	return args, nil
}

func secondApt(verb string, args []string) bool {
	conf := []string{"Dpkg::Options::=--force-confdef", "Dpkg::Options::=--force-confold"}
	var flat []string // with each -o and its value as one word
	for i := 0; i < len(args); i++ {
		if args[i] == "-o" && i+1 < len(args) && slices.Contains(conf, args[i+1]) {
			flat = append(flat, "-o "+args[i+1])
			i++
			continue
		}
		flat = append(flat, args[i])
	}
	known := []string{"-o " + conf[0], "-o " + conf[1], "-y", "-q", "--yes", "--allow-downgrades", "--simulate", "--download-only", "--no-download", "--no-install-recommends"}
	opts, names := options(flat, known)
	force := slices.Contains(opts, "--allow-downgrades")
	switch verb {
	case "install":
		return every(names, func(a string) bool {
			name, version, exact := strings.Cut(a, "=")
			if exact && (!only(version, letter+capital+digit+".+:~-") || !edges(version, digit, letter+capital+digit+".+:~-")) {
				return false
			}
			if !force && distroPython(a) {
				return true
			}
			h, headers := strings.CutPrefix(name, "linux-headers-")
			headers = headers && only(h, letter+digit+".+~-") && len(h) > 1 && edges(h, digit, letter+digit)
			return debianDriver(name) || headers && !force
		})
	case "remove":
		return every(names, debianDriver)
	}
	return false
}

func secondDnf(verb string, args []string) bool {
	opts, names := options(args, []string{"-y", "-q", "--assumeyes", "--assumeno", "--downloadonly", "--cacheonly", "--allowerasing", "--refresh"})
	force := slices.Contains(opts, "--allowerasing")
	if slices.Contains(opts, "--assumeno") && (slices.Contains(opts, "-y") || slices.Contains(opts, "--assumeyes")) {
		return false
	}
	switch verb {
	case "install":
		return every(names, func(a string) bool {
			if strings.HasSuffix(a, ".rpm") {
				return false
			}
			k, headers := strings.CutPrefix(a, "kernel-devel-")
			if !force && (distroPython(a) || a == "python3-dnf-plugin-versionlock" || headers && only(k, letter+capital+digit+".+~^_-") && edges(k, digit, letter+capital+digit+".+~^_-")) {
				return true
			}
			if rpmDriver(a) {
				return true
			}
			for i := 1; i < len(a)-1; i++ { // name-version
				version := a[i+1:]
				if a[i] == '-' && rpmDriver(a[:i]) && only(version, letter+capital+digit+".+:~^_-") && edges(version, digit, version) && (!force || driverName(a)) {
					return true
				}
			}
			return false
		})
	case "remove":
		return every(names, rpmDriver)
	}
	return false
}

func secondZypper(args []string) bool {
	if args[0] == "--no-refresh" {
		if args = args[1:]; args[0] != "install" {
			return false
		}
	}
	verb, args := args[0], args[1:]
	switch verb {
	case "install":
		opts, names := options(args, []string{"--auto-agree-with-licenses", "--download-only", "--dry-run", "--oldpackage", "--force-resolution"})
		force := slices.Contains(opts, "--oldpackage") || slices.Contains(opts, "--force-resolution")
		return every(names, func(a string) bool {
			name, version, exact := strings.Cut(a, "=")
			if strings.HasSuffix(a, ".rpm") || exact && (!only(version, letter+capital+digit+".+:~^_-") || !edges(version, digit, version)) {
				return false
			}
			flavour := strings.TrimSuffix(strings.TrimPrefix(name, "kernel-"), "-devel")
			return rpmDriver(name) || !force && distroPython(a) || !force && name == "kernel-"+flavour+"-devel" && only(flavour, letter+digit+"_")
		})
	case "remove", "addlock", "removelock":
		return every(args, rpmDriver)
	case "refresh":
		if len(args) != 1 {
			return false
		}
		repo, ok := strings.CutPrefix(args[0], "cuda-")
		distro, arch, _ := strings.Cut(repo, "-")
		return ok && only(distro, letter+digit) && (arch == "x86_64" || arch == "sbsa")
	}
	return false
}

func distroPython(s string) bool {
	minor, ok := strings.CutPrefix(s, "python3")
	minor = strings.TrimSuffix(strings.TrimSuffix(minor, "-venv"), "-pip")
	if strings.Count(s, "-") > 1 {
		return false
	}
	dotless := strings.TrimPrefix(minor, ".")
	return ok && (minor == "" || only(dotless, digit) && len(dotless) <= 2)
}

func branchOrVersion(s string) bool {
	parts := strings.Split(s, ".")
	for i, p := range parts {
		if !only(p, digit) || i == 0 && len(p) != 3 && len(p) != 4 || len(p) > 4 {
			return false
		}
	}
	return len(parts) <= 4
}

func keyFile(s string) bool {
	at := strings.LastIndex(s, "/")
	id := strings.TrimSuffix(s[at+1:], ".pub")
	return at > 0 && s[0] == '/' && only(s[1:], letter+capital+digit+"._/@+-") && len(id) == 8 && only(id, digit+"ABCDEF") && strings.HasSuffix(s, ".pub")
}

func debianDriver(s string) bool {
	return only(s, letter+digit+"-") && len(s) > 1 && edges(s, letter+digit, letter+digit) && driverName(s)
}

func rpmDriver(s string) bool {
	return only(s, letter+capital+digit+"_-") && len(s) > 1 && edges(s, letter+capital+digit, letter+capital+digit) && driverName(s)
}

// driverName is the second reading of what belongs to NVIDIA's driver.
func driverName(s string) bool {
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
	}
	for _, other := range []string{"container", "cuda-", "cudnn", "docker", "egl-wayland", "vaapi", "texture", "nsight", "gds"} {
		if has("nvidia-"+other, "libnvidia-"+other) {
			return false
		}
	}
	for _, other := range []string{"detect", "ml-dev"} {
		if s == "nvidia-"+other || s == "libnvidia-"+other {
			return false
		}
	}
	return s == "libcuda1" || has("nvidia-", "libnvidia-", "xserver-xorg-video-nvidia", "cuda-drivers", "kmod-nvidia", "akmod-nvidia", "dkms-nvidia", "linux-modules-nvidia-",
		"linux-objects-nvidia-", "linux-signatures-nvidia-", "xorg-x11-nvidia", "xorg-x11-drv-nvidia", "libxnvctrl")
}
