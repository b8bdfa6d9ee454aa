package system

import (
	"maps"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/text"
)

// passed lists the variables that a child gets from us. All others stay behind:
// PIP_*, UV_*, PYTHON*, LD_* and their like can each swap what is installed.
var passed = []string{
	"HOME", "NETRC", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "NO_COLOR", "XDG_CACHE_HOME",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

var passedWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
	"PROGRAMFILES", "PATHEXT", "COMSPEC", "PATH", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// Environment builds a child's environment from nothing: the allowed variables of
// ours, then extra, which wins. pip and uv are told to ignore every configuration
// file; pip needs --isolated as well.
func Environment(ours []string, extra map[string]string) []string {
	env := map[string]string{
		"PIP_CONFIG_FILE": os.DevNull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
		"UV_NO_CONFIG": "1", "PYTHONNOUSERSITE": "1", "PYTHONUNBUFFERED": "1",
	}
	allowed := passed
	if runtime.GOOS == "windows" {
		allowed = slices.Concat(passed, passedWindows)
	} else {
		env["PATH"] = strings.Join(systemDirs, ":")
	}
	for _, kv := range ours {
		k, v, _ := strings.Cut(kv, "=")
		if slices.Contains(allowed, k) || strings.HasPrefix(k, "LC_") {
			env[k] = v
		}
		// apt and curl know http_proxy in small letters alone
		if _, set := env[strings.ToLower(k)]; !set && strings.HasSuffix(k, "_PROXY") && slices.Contains(allowed, k) {
			env[strings.ToLower(k)] = v
		}
		// pip's own name for the bundle, which --isolated makes it ignore
		if k == "PIP_CERT" && env["REQUESTS_CA_BUNDLE"] == "" {
			env["REQUESTS_CA_BUNDLE"] = v
		}
	}
	maps.Copy(env, extra)
	return text.Each(slices.Sorted(maps.Keys(env)), func(k string) string { return k + "=" + env[k] })
}

// homely are the variables that lead to files of who set them. zypper reads
// ~/.zypper.conf, and where sudo keeps HOME that is a user's.
var homely = []string{"HOME", "NETRC", "USER", "LOGNAME", "XDG_CACHE_HOME"}

// ForRoot is an environment for a program with root's rights: root's home, and no file
// that a variable of the caller's leads to.
func ForRoot(ours []string) []string {
	out := slices.DeleteFunc(slices.Clone(ours), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(homely, k)
	})
	home := "/root"
	if u, err := user.LookupId("0"); err == nil {
		home = u.HomeDir
	}
	return append(out, "HOME="+home, "USER=root", "LOGNAME=root")
}
