package resolver

import (
	"strings"
	"testing"

	"envfix/internal/machine"
)

func TestMarkers(t *testing.T) {
	linux := machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "aarch64"}}
	windows := machine.Machine{Platform: machine.Platform{OS: "windows", Arch: "x86_64"}}
	for _, c := range []struct {
		h      machine.Machine
		marker string
		want   bool
	}{
		{linux, "", true},
		{linux, "sys_platform == 'linux'", true},
		{linux, "sys_platform == 'win32'", false},
		{windows, `sys_platform == "win32" and platform_machine == "AMD64"`, true},
		{linux, "platform_machine != 'x86_64'", true},
		{linux, "python_version >= '3.10'", true},
		{linux, "python_version < '3.9'", false},
		{linux, "python_version < '3.9' or sys_platform == 'linux'", true},
		{linux, "(python_version < '3.9' or sys_platform == 'linux') and os_name == 'nt'", false},
		{linux, "extra == 'gpu'", false},
		{linux, "platform_release == '6.8'", true}, // not known: the installer decides
		{linux, "platform_release == '6.8' and sys_platform == 'win32'", false},
		{linux, "platform_release == '6.8' or sys_platform == 'win32'", true},
		{linux, "'linux' in sys_platform", true},
		{linux, "sys_platform not in 'win32 darwin'", true},
		{linux, "python_full_version >= '3.12.1'", false},
		{linux, "nonsense", true},
		{linux, "sys_platform == 'linux", true},
	} {
		if got := markersOf(c.h, Request{Python: "3.12"}).admits(c.marker); got != c.want {
			t.Errorf("%q on %s %s: %v", c.marker, c.h.Platform.OS, c.h.Platform.Arch, got)
		}
	}
}

func FuzzMarkers(f *testing.F) {
	f.Add("sys_platform == 'linux' and (python_version < '3.9' or extra == 'x')")
	env := markersOf(machine.Machine{Platform: machine.Platform{OS: "linux", Arch: "x86_64"}}, Request{Python: "3.12"})
	f.Fuzz(func(t *testing.T, s string) {
		if !env.admits(s) && env.admits("("+s+") and sys_platform == 'linux'") && strings.Count(s, "(") == strings.Count(s, ")") && !strings.ContainsAny(s, `'"()`) {
			t.Fatalf("%q does not hold, and does with what holds beside it", s)
		}
	})
}
