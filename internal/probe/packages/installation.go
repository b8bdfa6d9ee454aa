package packages

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/probe/python"
	"envfix/internal/probe/sysroot"
	"envfix/internal/probe/variables"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// sameRun is how far apart the files of packages are written that one run of an
// installer installs: torch alone takes minutes on a slow disk.
const sameRun = 10 * time.Minute

// Installation reads who installed torch, when and what for: INSTALLER, REQUESTED and
// direct_url.json (PEP 376, PEP 610), the time at which RECORD was written, and the
// packages beside it.
func Installation(h *sysroot.Host, torch machine.Package) *machine.Installation {
	info := infoOf(h, torch)
	if info == "" {
		return nil
	}
	i := &machine.Installation{By: python.Installer(h, info), Asked: h.Exists(info + "/REQUESTED")}
	i.From = variables.Redact(direct(h, info).URL)
	at := installed(h, info)
	prefix := path.Dir(path.Dir(path.Dir(path.Dir(info))))
	record, ok := xslices.Find(h.Names(prefix+"/conda-meta"), func(name string) bool {
		r, ok := python.ParseCondaRecord(name)
		return ok && slices.Contains([]string{"pytorch", "libtorch", "pytorch-gpu", "pytorch-cpu"}, r.Name)
	})
	if ok {
		r, _ := python.ParseCondaRecord(record)
		switch {
		case i.By == "conda":
			at = modified(h, prefix+"/conda-meta/"+record)
		case !strings.HasPrefix(torch.Version, r.Version):
			i.Replaced, i.Why = true, fmt.Sprintf("conda's record says pytorch %s", r.Version)
		default:
			i.Replaced, i.Why = true, "conda's record of it is there as well"
		}
	}
	if !at.IsZero() {
		i.At = at.UTC().Format(time.RFC3339)
		beside(h, i, torch, info, at)
	}
	for _, name := range h.Names(torch.Path) {
		if strings.HasPrefix(name, "~orch") && i.Why == "" {
			i.Replaced, i.Why = true, "an earlier one was left half removed: "+text.Printable(name)
		}
	}
	return i
}

// needsTorch is the line of a package's metadata that asks for torch.
var needsTorch = lazy.Regexp(`(?im)^Requires-Dist: torch\b\s*(?:[(<>=!~]|$|;\s*(?:python|sys_platform|platform_system|platform_machine))`)

// beside looks at the packages that need torch: those of the same run were installed
// with it, and one that is older was installed with an earlier torch.
func beside(h *sysroot.Host, i *machine.Installation, torch machine.Package, info string, at time.Time) {
	for _, name := range h.Names(torch.Path) {
		other := torch.Path + "/" + name
		if !strings.HasSuffix(name, ".dist-info") || strings.HasPrefix(name, "~") || other == info || !needsTorch().Match(python.Metadata(h, other)) {
			continue
		}
		then := installed(h, other)
		stem, _, _ := strings.Cut(name, "-")
		stem = machine.NormalName(text.Printable(stem))
		switch {
		case then.IsZero():
		case at.Sub(then) > sameRun:
			if i.Why == "" {
				i.Replaced = true
				i.Why = fmt.Sprintf("%s, which needs torch, was installed before it", stem)
			}
		case then.Sub(at) < sameRun && len(i.With) < 8:
			i.With = append(i.With, stem)
		}
	}
}

// infoOf is the dist-info directory of a distribution; "" there is none.
func infoOf(h *sysroot.Host, d machine.Package) string {
	infos, _ := python.Infos(h, []string{d.Path}, ".dist-info")
	info, _ := xslices.Find(infos, func(info string) bool {
		dist, _, _ := strings.Cut(path.Base(info), "-")
		return machine.NormalName(dist) == d.Name
	})
	return info
}

// installed is when a distribution was installed: its RECORD and INSTALLER are written
// then, while other files may carry the time of the wheel or of a cache.
func installed(h *sysroot.Host, info string) time.Time {
	return slices.MaxFunc([]time.Time{modified(h, info+"/RECORD"), modified(h, info+"/INSTALLER")}, time.Time.Compare)
}

func modified(h *sysroot.Host, file string) time.Time { return timeOf(h, file, os.FileInfo.ModTime) }

// timeOf is a time of a file; zero: it is not there.
func timeOf(h *sysroot.Host, file string, of func(os.FileInfo) time.Time) time.Time {
	i, err := os.Stat(h.Real(file))
	if err != nil {
		return time.Time{}
	}
	return of(i)
}
