package packages

import (
	"bytes"
	"cmp"
	"path"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// Files reads every copy of the distributions; the files of those that torch imports
// are compared with the disk.
func Files(h *sysroot.Host, sites []string, e python.Env) []machine.DistFiles {
	infos, _ := python.Infos(h, sites, ".dist-info")
	read := map[string]python.Dist{}
	for _, d := range e.Dists {
		read[d.Info] = d
	}
	imported, abi := python.Needs(e.Dists, "torch", "torchvision", "torchaudio"), "cp"+strings.ReplaceAll(version.Minor(e.Python.Version), ".", "")
	tag := python.Tag(e.Python)
	return sysroot.Each(infos, func(info string) machine.DistFiles {
		d, ok := read[info]
		if !ok {
			d = python.ReadDist(h, info)
		}
		f := machine.DistFiles{Name: d.Name, Version: d.Listed, Info: text.Printable(info), Requires: d.Needs}
		f.Installer = python.Installer(h, info)
		f.Gone = movedSource(h, info)
		if d.Name == "torch" {
			f.Module = d.Module
		}
		if module := python.Backend(h, info); module != "" && !python.HasModule(h, sites, module) {
			f.Backend = module
		}
		wheel := h.Bytes(info+"/WHEEL", 4096)
		if m := wheelABI().FindSubmatch(wheel); m != nil && strings.TrimSuffix(string(m[1]), "t") != abi && abi != "cp" {
			f.ABI = string(m[1])
		}
		if platform := foreignPlatform(wheel, h.OS, runtime.GOARCH); platform != "" && h.Root == "" {
			f.ABI = platform
		}
		if python.TorchSet().MatchString(d.Name) || imported[d.Name] || d.Name == "numpy" {
			checkRecord(h, &f, info, tag)
		}
		return f
	})
}

// wheelABI is the first tag of a wheel whose machine code is for one Python alone.
var wheelABI = lazy.Regexp(`(?m)^Tag: cp3\d+-(cp3\d+t?)-`)

// wheelPlatform is what a tag of a wheel says of systems: "manylinux_2_28_x86_64".
var wheelPlatform = lazy.Regexp(`(?m)^Tag: [^-\s]+-[^-\s]+-(\S+)$`)

// foreignPlatform is the platform of a wheel that is for another system or processor than
// this one; "" it is for this one, or for any.
func foreignPlatform(wheel []byte, os, arch string) string {
	last := ""
	for _, m := range wheelPlatform().FindAllSubmatch(wheel, -1) {
		last = string(m[1])
		ours := map[string]string{"linux": "linux", "macos": "macosx_", "darwin": "macosx_", "windows": "win"}[os]
		processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
		if last == "any" || ours == "" || processor == "" || strings.Contains(last, ours) && (os != "linux" || strings.HasSuffix(last, processor)) {
			return ""
		}
	}
	return last
}

// movedSource is where the sources of a distribution were that is installed in place of
// them (PEP 610), if they are not there any more; "" all is well.
func movedSource(h *sysroot.Host, info string) string {
	u := direct(h, info)
	if u.Dir == nil || !u.Dir.Editable {
		return ""
	}
	if dir := localPath(u.URL); dir != "" && !h.Exists(path.Join(dir, u.Subdirectory)) {
		return text.Printable(path.Join(dir, u.Subdirectory))
	}
	return ""
}

// emptyHash is RECORD's hash of a file that is empty.
const emptyHash = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"

// checkRecord compares RECORD with the disk: every file by existence, libraries and sources by
// size too, and those by their hashes that were written to since. What conda installs has other
// sizes than the wheel that it was made of, so content counts for pip and uv alone. tag is of the Python whose byte code counts.
func checkRecord(h *sysroot.Host, d *machine.DistFiles, info, tag string) {
	byPip := d.Installer == "pip" || d.Installer == "uv"
	data := h.Bytes(info+"/RECORD", sysroot.MaxFile)
	if len(data) == 0 {
		if d.Link = brokenLink(h, info+"/RECORD", path.Dir(info)); d.Link != "" {
			d.Absent, d.Missing = 1, []string{text.Printable(info + "/RECORD")}
		} else if byPip {
			d.Record = "missing or empty"
		}
		return
	}
	own := path.Base(info) + "/RECORD"
	var itself bool
	c := comparison{h: h, d: d, site: path.Dir(info) + "/", record: data, byPip: byPip,
		after: modified(h, info+"/RECORD").Add(settled), put: timeOf(h, info+"/RECORD", changed), dirs: map[string]map[string]bool{}}
	for _, f := range machine.ReadRecord(data) {
		switch {
		case f.Path == own:
			itself = true
			continue
		case f.Hash == emptyHash && strings.HasSuffix(f.Path, "/__init__.py"):
			continue // a package without it is one all the same (PEP 420)
		case f.Path == "", strings.HasPrefix(f.Path, "../"), path.IsAbs(f.Path), strings.HasSuffix(f.Path, ".pyc"):
			continue // programs are rewritten; byte code comes and goes
		}
		d.Files++
		if isLibrary(f.Path) {
			d.Libraries = append(d.Libraries, f.Path)
		}
		c.compare(f)
	}
	c.lateFiles()
	c.youngLibraries()
	c.byteCode(tag)
	c.hidden(tag)
	unlisted := func(top string) bool { return h.IsDir(c.site+top) && !bytes.Contains(data, []byte("\n"+top+"/")) }
	// It lists itself, by its specification, and something of each top-level package: lines are sorted, and the end may be lost.
	if byPip && (!itself || slices.ContainsFunc(strings.Fields(h.Text(info+"/top_level.txt")), unlisted)) {
		d.Record = "cut off"
	}
	d.Missing = xslices.First(d.Missing, isLibrary)
	d.Missing = d.Missing[:min(len(d.Missing), sysroot.MaxNamed)]
	d.Link = brokenLink(h, append(d.Missing, path.Dir(info))[0], path.Dir(info))
}

// brokenLink is where a link leads, and nothing is, that a missing file of a directory lies behind; "" no such.
func brokenLink(h *sysroot.Host, file, site string) string {
	for ; file != site; file = path.Dir(file) {
		if to := h.Target(file); to != "" && !h.Exists(file) {
			return text.Printable(to)
		}
	}
	return ""
}

// isLibrary reports whether a file is machine code.
func isLibrary(file string) bool {
	return strings.Contains(path.Base(file), ".so") || strings.HasSuffix(file, ".dll") || strings.HasSuffix(file, ".pyd") || strings.HasSuffix(file, ".dylib")
}

// variants end the names of packages that are one for several kinds of machines.
var variants = lazy.Regexp(`^(?:pytorch-)?(.+?)-(?:gpu|cpu|cuda|cuda1\d[a-z]?|cu1\d\d?|cuda11x|rocm[\d.]*|directml|openvino|nightly|headless)$`)

// Clashes are pairs of installed distributions that are the same one for another machine,
// and whose files lie over each other.
func Clashes(h *sysroot.Host, dists []python.Dist) (out [][2]string) {
	first := map[string]python.Dist{}
	for _, d := range dists { // sorted: the plain name comes first
		stem := d.Name
		if !strings.HasPrefix(stem, "nvidia-") {
			stem = cmp.Or(variants.Group(stem), stem)
		}
		other, twice := first[stem]
		if !twice {
			first[stem] = d
			continue
		}
		mine, theirs := machine.ReadRecord(h.Bytes(d.Info+"/RECORD", sysroot.MaxFile)), machine.ReadRecord(h.Bytes(other.Info+"/RECORD", sysroot.MaxFile))
		unknown := len(mine) == 0 || len(theirs) == 0 // then their names tell
		if unknown && strings.HasSuffix(d.Name, "-gpu") || slices.ContainsFunc(theirs, func(f machine.RecordFile) bool {
			return strings.HasSuffix(f.Path, "/__init__.py") && slices.ContainsFunc(mine, func(o machine.RecordFile) bool { return o.Path == f.Path })
		}) {
			out = append(out, [2]string{other.Name, d.Name})
		}
	}
	return out
}
