// Package packages reads what installed distributions are made of: whether their files are as
// they were brought, who installed them and when, and what installing them again takes.
package packages

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/libraries"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
)

const (
	maxRequires = 300 // lines of one distribution that are kept
	maxLinked   = 600 // libraries of one distribution that are looked into
)

// Held reads the distributions, a few at once; the first of a name wins, as
// for Python's import, unless its metadata is broken.
func Held(h *sysroot.Host, infos []string) (out []machine.HeldDist) {
	at := map[string]int{}
	for _, d := range sysroot.Each(infos, func(info string) machine.HeldDist { return heldDist(h.Apart(), info) }) {
		i, seen := at[d.Name]
		switch {
		case d.Name == "":
		case !seen:
			at[d.Name] = len(out)
			out = append(out, d)
		case out[i].Broken != "" && d.Broken == "":
			out[i] = d
		}
	}
	slices.SortFunc(out, func(a, b machine.HeldDist) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// heldDist reads one dist-info, egg-info or egg-link.
func heldDist(h *sysroot.Host, info string) machine.HeldDist {
	if strings.HasSuffix(info, ".egg-link") {
		return eggLink(h, info)
	}
	dist := python.ReadDist(h, info)
	d := held(&dist)
	if !dist.Whole {
		d.Broken = "its metadata has no name or no version"
	}
	d.Tags = text.Each(wheelTag().FindAllStringSubmatch(h.Text(info+"/WHEEL"), 20), func(m []string) string { return text.Printable(m[1]) })
	d.Indexed = cachedByUV(h, d.Name, d.Version)
	d.Origin = cameFrom(h, info)
	recorded(h, &d, info)
	return d
}

var wheelTag = lazy.Regexp(`(?m)^Tag: ([A-Za-z0-9_.]{1,80}-[A-Za-z0-9_.]{1,80}-[A-Za-z0-9_.]{1,120})\s*$`)

// held is what installing a distribution again needs of its metadata.
func held(d *python.Dist) machine.HeldDist {
	out := machine.HeldDist{Name: d.Name, Version: d.Version, RequiresPython: d.Python}
	for _, line := range d.Needs {
		if _, marker, _ := strings.Cut(line, ";"); !strings.Contains(marker, "extra") && len(out.Requires) < maxRequires {
			out.Requires = append(out.Requires, line)
		}
	}
	return out
}

// directURL is direct_url.json (PEP 610).
type directURL struct {
	URL          string `json:"url"`
	Subdirectory string `json:"subdirectory"`
	Dir          *struct {
		Editable bool `json:"editable"`
	} `json:"dir_info"`
	Archive *struct {
		Hash   string            `json:"hash"`
		Hashes map[string]string `json:"hashes"`
	} `json:"archive_info"`
	VCS *struct {
		VCS    string `json:"vcs"`
		Commit string `json:"commit_id"`
	} `json:"vcs_info"`
}

// direct reads the one of a distribution; zero where there is none.
func direct(h *sysroot.Host, info string) (u directURL) {
	if json.Unmarshal(h.Bytes(info+"/direct_url.json", 64<<10), &u) != nil {
		return directURL{}
	}
	return u
}

// cameFrom reads a direct_url.json; nil where there is none.
func cameFrom(h *sysroot.Host, info string) *machine.DirectURL {
	u := direct(h, info)
	if u.URL == "" {
		return nil
	}
	o := &machine.DirectURL{Kind: machine.FromArchive, URL: u.URL, Subdirectory: u.Subdirectory}
	switch {
	case u.Dir != nil && u.Dir.Editable:
		o.Kind = machine.FromEditable
	case u.Dir != nil:
		o.Kind = machine.FromDir
	case u.VCS != nil:
		o.Kind, o.VCS, o.Commit = machine.FromVCS, u.VCS.VCS, u.VCS.Commit
	case u.Archive != nil && u.Archive.Hashes["sha256"] != "":
		o.Hash = "sha256=" + u.Archive.Hashes["sha256"]
	case u.Archive != nil:
		o.Hash = u.Archive.Hash
	}
	if file := localPath(o.URL); file != "" {
		o.Gone = !h.Exists(path.Join(file, o.Subdirectory))
		if !o.Gone && o.Kind != machine.FromArchive {
			o.Links = treeLinks(h, path.Join(file, o.Subdirectory))
		}
	}
	return o
}

// localPath is the path of a file URL; "" for any other.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !path.IsAbs(u.Path) {
		return ""
	}
	return path.Clean(u.Path)
}

// eggLink reads what `setup.py develop` left: the path of a source tree.
func eggLink(h *sysroot.Host, file string) machine.HeldDist {
	var of python.Dist
	of.Name = machine.NormalName(text.Printable(strings.TrimSuffix(path.Base(file), ".egg-link")))
	dir, _, _ := strings.Cut(h.Text(file), "\n")
	if dir = path.Clean(strings.TrimSpace(dir)); !path.IsAbs(dir) {
		return machine.HeldDist{}
	}
	for _, name := range h.Names(dir) {
		if stem, ok := strings.CutSuffix(name, ".egg-info"); ok && machine.NormalName(stem) == of.Name {
			of.Metadata(python.Metadata(h, dir+"/"+name))
		}
	}
	d := held(&of)
	d.Origin = &machine.DirectURL{
		Kind:  machine.FromEditable,
		URL:   (&url.URL{Scheme: "file", Path: dir}).String(),
		Gone:  !h.IsDir(dir),
		Links: treeLinks(h, dir),
	}
	return d
}

// treeLinks are the links of the extensions that were built within a source tree,
// where such builds put them: beside it, and in its packages.
func treeLinks(h *sysroot.Host, dir string) (out []string) {
	looked := 0
	for _, base := range []string{dir, dir + "/src"} {
		dirs := []string{base}
		for _, name := range h.Names(base) {
			if len(dirs) < 64 && !strings.HasPrefix(name, ".") && h.Exists(base+"/"+name+"/__init__.py") {
				dirs = append(dirs, base+"/"+name)
			}
		}
		for _, in := range dirs {
			for _, name := range h.Names(in) {
				if strings.HasSuffix(name, ".so") && looked < maxLinked {
					looked++
					out = libraries.AddLinks(h, out, in+"/"+name)
				}
			}
		}
	}
	return out
}

// recorded reads RECORD: the size of a distribution, the hashes of its code, and
// what its machine code links.
func recorded(h *sysroot.Host, d *machine.HeldDist, info string) {
	text := h.Bytes(info+"/RECORD", sysroot.MaxFile)
	files := machine.ReadRecord(text)
	for _, f := range files {
		d.Bytes += f.Size
	}
	if python.TorchSet().MatchString(d.Name) {
		return // what is chosen is not copied
	}
	own := path.Base(info) + "/RECORD"
	if bytes.HasSuffix(text, []byte("\n")) && slices.ContainsFunc(files, func(f machine.RecordFile) bool { return f.Path == own }) {
		d.Digest = machine.CodeDigest(files) // of one that was cut off, nothing can be compared
		d.Whole = len(d.Tags) > 0 && whole(h, files, info)
	}
	looked := 0
	for _, f := range files {
		if f.Code() && libraries.IsELF(f.Path) && looked < maxLinked {
			looked++
			d.Links = libraries.AddLinks(h, d.Links, path.Dir(info)+"/"+path.Clean(f.Path))
		}
	}
}

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
	return digest(sysroot.ReadFile(file, mostHashed)) == strings.TrimRight(want, "=")
}

// digest is the hash of a file as RECORD writes it.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:])
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
