package probe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
)

// wheelLibrary matches the libraries that wheels of torch and of NVIDIA bring.
var wheelLibrary = lazy.Regexp(`^lib(cu|nv|nccl|torch|c10)[A-Za-z0-9_-]*\.so[.0-9]*$`)

// profiles are the files in which people set LD_LIBRARY_PATH, as a shell reads
// them. "~" is the home directory.
var profiles = []string{
	"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile",
	"/etc/environment", "/etc/profile", "/etc/bash.bashrc", "/etc/zsh/zshenv",
}

// Most that is looked at: nobody's LD_LIBRARY_PATH is longer on purpose.
const (
	maxDirs  = 64
	maxFiles = 200
)

// loaderPath reads the entries of LD_LIBRARY_PATH, which the loader searches
// before the libraries that torch brings.
func (h *host) loaderPath() []machine.LibraryDir {
	var out []machine.LibraryDir
	for entry := range strings.SplitSeq(h.env["LD_LIBRARY_PATH"], ":") {
		if entry == "" || len(out) == maxDirs || slices.ContainsFunc(out, func(d machine.LibraryDir) bool { return d.Path == entry }) {
			continue
		}
		d := machine.LibraryDir{Path: machine.Printable(entry), Files: []string{}, From: h.origin(entry)}
		for _, name := range h.names(entry) {
			if wheelLibrary().MatchString(name) && len(d.Files) < maxFiles {
				d.Files = append(d.Files, name)
			}
		}
		out = append(out, d)
	}
	return out
}

// origin returns the file and line that put entry into LD_LIBRARY_PATH, where it
// stands there literally; "" where it is not found.
func (h *host) origin(entry string) string {
	files := slices.Clone(profiles)
	for _, name := range h.names("/etc/profile.d") {
		if strings.HasSuffix(name, ".sh") {
			files = append(files, "/etc/profile.d/"+name)
		}
	}
	for _, file := range files {
		path := file
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			if h.home == "" {
				continue
			}
			path = filepath.Join(h.home, rest)
		}
		for i, line := range strings.Split(string(h.bytes(path, 1<<20)), "\n") {
			code, _, _ := strings.Cut(line, "#")
			if strings.Contains(code, "LD_LIBRARY_PATH") && names(code, entry) {
				return fmt.Sprintf("%s:%d", file, i+1)
			}
		}
	}
	return ""
}

// names reports whether a line holds entry as a whole path, not as the beginning
// of a longer one.
func names(line, entry string) bool {
	for {
		_, after, ok := strings.Cut(line, entry)
		if !ok {
			return false
		}
		if after == "" || strings.ContainsRune(":\"' \t;}", rune(after[0])) {
			return true
		}
		line = after
	}
}
