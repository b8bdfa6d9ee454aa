package variables

import (
	"cmp"
	"path"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// unitDirs are where systemd looks for units of the system and of users
// (systemd.unit(5)).
var unitDirs = map[bool][]string{
	false: {"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"},
	true:  {"~/.config/systemd/user", "/etc/systemd/user", "/run/systemd/user", "/usr/lib/systemd/user"},
}

// unitFiles are the files of the systemd service that this process is part of, and
// the files of variables that they name. A login's shell is part of a scope, which
// sets none.
func unitFiles(h *sysroot.Host) (out []setter) {
	unit, user := OwnUnit(h)
	if unit == "" {
		return nil
	}
	names := []string{unit}
	if name, _, ok := strings.Cut(unit, "@"); ok {
		names = append(names, name+"@.service")
	}
	for _, dir := range unitDirs[user] {
		if strings.HasPrefix(dir, "~") && h.Home == "" {
			continue
		}
		for _, name := range names {
			out = append(out, setter{machine.OriginSystemd, unit, dir + "/" + name, systemdText})
			for _, s := range settersIn(h, machine.OriginSystemd, dir+"/"+name+".d", ".conf", systemdText) {
				s.name = unit
				out = append(out, s)
			}
		}
	}
	for _, s := range out {
		for line := range strings.Lines(string(h.Bytes(atHome(h, s.file), 1<<18))) {
			file, ok := strings.CutPrefix(strings.TrimSpace(line), "EnvironmentFile=")
			if file = strings.TrimPrefix(file, "-"); ok && path.IsAbs(file) && len(out) < 200 {
				out = append(out, setter{machine.OriginSystemd, unit, file, ShellText})
			}
		}
	}
	return out
}

// OwnUnit is the service whose control group holds this process, and whether it is
// one of a user's own manager; "" none.
func OwnUnit(h *sysroot.Host) (unit string, user bool) {
	for line := range strings.Lines(cmp.Or(h.Cgroups, h.Text("/proc/self/cgroup"))) {
		_, rest, _ := strings.Cut(line, ":")
		controller, group, _ := strings.Cut(rest, ":")
		if controller != "" && controller != "name=systemd" {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(group), "/") {
			switch {
			case strings.HasPrefix(part, "user@") && strings.HasSuffix(part, ".service"):
				unit, user = "", true
			case strings.HasSuffix(part, ".service"):
				unit = part
			case strings.HasSuffix(part, ".scope"):
				unit = ""
			}
		}
	}
	if strings.ContainsAny(unit, "/\x00") || strings.HasPrefix(unit, ".") {
		return "", false
	}
	return unit, user
}
