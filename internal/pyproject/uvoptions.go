package pyproject

import (
	"fmt"
	"slices"
)

// uvFollowed are the keys of [tool.uv] that are read elsewhere, or say nothing of which
// files an environment holds (uv's reference of settings).
var uvFollowed = []string{"add-bounds", "allow-insecure-host", "build-backend", "cache-dir", "cache-keys", "check-url", "compile-bytecode",
	"concurrent-builds", "concurrent-downloads", "concurrent-installs", "conflicts", "constraint-dependencies", "default-groups", "dependency-groups",
	"dev-dependencies", "environments", "extra-index-url", "fork-strategy", "http-proxy", "https-proxy", "index", "index-strategy", "index-url",
	"keyring-provider", "link-mode", "managed", "native-tls", "no-build", "no-build-package", "no-cache", "no-progress", "no-proxy", "offline",
	"override-dependencies", "package", "pip", "preview", "preview-features", "publish-url", "pypy-install-mirror", "python-downloads",
	"python-downloads-json-url", "python-install-mirror", "python-preference", "reinstall", "reinstall-package", "required-environments",
	"required-version", "sources", "system-certs", "trusted-publishing", "upgrade", "upgrade-package", "workspace"}

// uvPassed are those that uv is given when it resolves.
var uvPassed = []string{"exclude-newer", "prerelease", "resolution"}

// uvRefused are those that change what is locked in a way that is not followed.
var uvRefused = map[string]string{
	"find-links":            "name the files, `NAME @ file:///…`",
	"no-index":              "take it out, or name an index",
	"no-binary":             "`build` in envfix.toml names the packages that are built",
	"no-binary-package":     "`build` in envfix.toml names the packages that are built",
	"dependency-metadata":   "`override-dependencies` says what a package needs",
	"exclude-dependencies":  "`override-dependencies` with a marker that never holds leaves one out",
	"exclude-newer-package": "`exclude-newer` holds for all, `constraint-dependencies` for one",
	"no-sources":            "take it out: [tool.uv.sources] is followed",
	"no-sources-package":    "take it out: [tool.uv.sources] is followed",
}

// uvOptions takes over what [tool.uv] says beside packages and indexes: it is passed on,
// refused by name, or named as not followed.
func uvOptions(settings map[string]any, p *Project, name string) {
	for _, key := range sortedKeys(settings) {
		at := name + ": tool.uv." + key
		value, isText := settings[key].(string)
		way, refused := uvRefused[key]
		switch {
		case slices.Contains(uvFollowed, key):
		case slices.Contains(uvPassed, key) && isText:
			p.Options = append(p.Options, key+"="+value)
		case refused:
			p.Refused = append(p.Refused, fmt.Sprintf("%s: a lock cannot follow it; %s", at, way))
		default:
			p.Unfollowed = append(p.Unfollowed, at+" is not followed")
		}
	}
}
