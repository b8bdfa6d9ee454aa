package packages

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/machine"
	"envfix/internal/probe/sysroot"
)

// settled is how much later than RECORD a file of an installation may have been
// written: RECORD is the last that pip and uv write. A file that is newer is read.
const settled = 2 * time.Second

// whole reports whether every file of a distribution is there as its RECORD lists it:
// regular, of that size, and where it was written later, of that hash. Reading them
// all is left to the copy itself.
func whole(h *sysroot.Host, files []machine.RecordFile, info string) bool {
	record, err := os.Lstat(h.Real(info + "/RECORD"))
	if err != nil {
		return false
	}
	site, after := path.Dir(info), record.ModTime().Add(settled)
	return !slices.ContainsFunc(files, func(f machine.RecordFile) bool {
		name := path.Clean(f.Path)
		if path.Base(path.Dir(name)) == "__pycache__" || f.Hash == "" && path.Dir(name) == path.Base(info) {
			return false // byte code comes and goes, also what a wheel brought; the rest is the installer's own
		}
		if !strings.HasPrefix(f.Hash, "sha256=") || path.IsAbs(name) {
			return true
		}
		at := h.Real(site + "/" + name)
		st, err := os.Lstat(at)
		if err != nil || !st.Mode().IsRegular() || f.Size > 0 && st.Size() != f.Size {
			return true
		}
		return st.ModTime().After(after) && !hashed(at, strings.TrimPrefix(f.Hash, "sha256="))
	})
}

// mostHashed bounds what is read of a file that was changed.
const mostHashed = 1 << 28

func hashed(file, want string) bool {
	sum := sha256.Sum256(sysroot.ReadFile(file, mostHashed))
	return base64.RawURLEncoding.EncodeToString(sum[:]) == strings.TrimRight(want, "=")
}

// cachedByUV reports whether uv's cache holds this version of a package from the
// default index, which has a directory of its own there; other indexes are in
// another (wheels-v5/pypi and wheels-v5/index, uv 0.4 to 0.13).
func cachedByUV(h *sysroot.Host, name, version string) bool {
	if version == "" || strings.Contains(name, "/") {
		return false
	}
	root := h.Env["UV_CACHE_DIR"]
	if root == "" {
		if root = h.Env["XDG_CACHE_HOME"]; root == "" {
			root = h.Home + "/.cache"
		}
		root += "/uv"
	}
	if !path.IsAbs(root) {
		return false
	}
	for _, bucket := range h.Names(root) {
		if strings.HasPrefix(bucket, "wheels-v") && slices.ContainsFunc(h.Names(root+"/"+bucket+"/pypi/"+name), func(file string) bool {
			return strings.HasPrefix(file, version+"-")
		}) {
			return true
		}
	}
	return false
}
