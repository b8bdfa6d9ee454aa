package pep508

import (
	"strings"
	"testing"
)

func TestAdmits(t *testing.T) {
	linux, arm := EnvironmentOf("linux", "x86_64", "3.13t"), EnvironmentOf("linux", "aarch64", "3.12.4")
	windows, unknown := EnvironmentOf("windows", "x86_64", "3.12"), EnvironmentOf("linux", "x86_64", "")
	for _, c := range []struct {
		env    Environment
		marker string
		want   bool
	}{
		{linux, "", true},
		{linux, `platform_system == "Linux" and platform_machine == 'x86_64'`, true},
		{linux, `platform_machine == "aarch64"`, false},
		{linux, `platform_system != "Linux" or python_version < "3.15"`, true},
		{linux, `python_version < "3.13"`, false},
		{linux, `python_version >= "3.9"`, true}, // 3.13 is more than 3.9
		{linux, `python_version ~= "3.10"`, true},
		{linux, `(python_version < "3.9" or python_version == "3.13") and sys_platform == "linux"`, true},
		{linux, `(python_version < "3.9" or sys_platform == "linux") and os_name == "nt"`, false},
		{linux, `extra == "opt-einsum"`, false},
		{linux, `"linux" in sys_platform`, true},
		{linux, `platform_machine not in "x86_64 AMD64"`, false},
		{linux, `sys_platform not in 'win32 darwin'`, true},
		{arm, `python_full_version >= '3.12.4'`, true},
		{arm, `python_full_version >= '3.12.5'`, false},
		{windows, `sys_platform == "win32" and platform_machine == "AMD64"`, true},
		{windows, `python_full_version >= '3.12.1'`, false},

		// What is not known may hold, unless the rest decides.
		{unknown, `python_version < "3.9"`, true},
		{linux, "platform_release == '6.8'", true},
		{linux, "platform_release == '6.8' and sys_platform == 'win32'", false},
		{linux, "platform_release == '6.8' or sys_platform == 'win32'", true},

		// What cannot be read hides no requirement.
		{linux, "nonsense", true},
		{linux, `some_day == "x"`, true},
		{linux, `os.name == "posix"`, true}, // as old metadata has it
		{linux, `python_version <`, true},
		{linux, `python_version < "3.9`, true},
		{linux, `(python_version < "3.9"`, true},
		{linux, `python_version < "3.9" garbage`, true},
		{linux, strings.Repeat("(", 100) + `python_version < "3.9"`, true},
	} {
		if got := c.env.Admits(c.marker); got != c.want {
			t.Errorf("%q: %v", c.marker, got)
		}
	}
}

// What is only possible does not surely count, and extras are asked about one by one.
func TestSurely(t *testing.T) {
	linux, nowhere := EnvironmentOf("linux", "x86_64", "3.12"), EnvironmentOf("", "", "")
	for _, c := range []struct {
		env    Environment
		marker string
		extras []string
		want   bool
	}{
		{linux, "", nil, true},
		{linux, `python_version < "3.10"`, nil, false},
		{linux, `python_version >= "3.10" and platform_system == "Linux"`, nil, true},
		{linux, `extra == "b" and sys_platform == "linux"`, []string{"a", "b"}, true},
		{linux, `extra == "c"`, []string{"a", "b"}, false},
		{linux, "platform_release == '6.8'", nil, false},
		{linux, "nonsense", nil, false},
		{nowhere, `platform_system == "Linux"`, nil, false},
		{nowhere, `platform_system != "Linux"`, nil, false},
	} {
		if got := c.env.Surely(c.marker, c.extras...); got != c.want {
			t.Errorf("%q with %v: %v", c.marker, c.extras, got)
		}
	}
	if !nowhere.Admits(`platform_system == "Windows"`) {
		t.Error("on an unknown system any may hold")
	}
}

func FuzzAdmits(f *testing.F) {
	f.Add("sys_platform == 'linux' and (python_version < '3.9' or extra == 'x')")
	env := EnvironmentOf("linux", "x86_64", "3.12")
	f.Fuzz(func(t *testing.T, s string) {
		if !env.Admits(s) && env.Admits("("+s+") and sys_platform == 'linux'") && strings.Count(s, "(") == strings.Count(s, ")") && !strings.ContainsAny(s, `'"()`) {
			t.Fatalf("%q does not hold, and does with what holds beside it", s)
		}
	})
}
