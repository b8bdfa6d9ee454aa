package pyproject

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// ofGit reports whether an address is a git repository's that a plan can hold: over https,
// and without a login.
func ofGit(address string) bool {
	rest, ok := strings.CutPrefix(address, "git+https://")
	host, _, _ := strings.Cut(rest, "/")
	return ok && !strings.Contains(host, "@")
}

// ofRepository reports whether an address is a repository's, whatever tool fetches it (git+ssh,
// git+git, hg+https): an installer builds what lies there, --only-binary or not.
func ofRepository(address string) bool {
	scheme, _, ok := strings.Cut(address, "://")
	return ok && strings.Contains(scheme, "+")
}

// Untaken says which addresses that it takes packages from are in no plan.
func (p *Project) Untaken() (said []string) {
	places := slices.Clone(p.Places)
	for _, q := range p.Requirements {
		if ofRepository(q.URL) {
			places = append(places, Place{Where: q.URL, From: q.From})
		}
	}
	for _, k := range places {
		file := strings.HasPrefix(k.Where, "https://") && pep508.Asks(p.Requirements, k.Package)
		if strings.Contains(k.Where, "://") && !k.Local() && !ofGit(k.Where) && !file {
			said = append(said, fmt.Sprintf("%s: %q is of no index: a lock installs it from there, a plan does not (`python -m pip install` in the environment does), and what it needs was not read",
				k.From, k.Where))
		}
	}
	return said
}

// Repositories are what it takes from git, as an installer takes it.
func (p *Project) Repositories() (out []string) {
	for _, k := range p.Places {
		if q := (pep508.Requirement{Name: k.Package, URL: k.Where, Marker: k.Marker}); ofGit(k.Where) {
			out = append(out, say.Either(k.Package != "", q.Line(), k.Where))
		}
	}
	of := xslices.Filter(p.Requirements, func(q pep508.Requirement) bool { return ofGit(q.URL) })
	return append(out, text.Each(of, pep508.Requirement.Line)...)
}

// Apart are the packages that come from a repository or a folder on every machine.
func (p *Project) Apart() (names []string) {
	for _, k := range p.Places {
		if k.Marker == "" && k.Package != "" && (k.Local() || ofRepository(k.Where)) {
			names = append(names, k.Package)
		}
	}
	for _, q := range p.Requirements {
		if q.Marker == "" && ofRepository(q.URL) {
			names = append(names, q.Name)
		}
	}
	return names
}

// Indexed are the requirements that an installer is given: what comes from a repository or a
// folder is asked of no index, where anybody may have taken the name.
func (p *Project) Indexed() (out []pep508.Requirement) {
	for _, q := range p.Requirements {
		k, placed := xslices.Find(p.Places, func(k Place) bool { return k.Package == q.Name })
		if placed && !k.Local() && strings.HasPrefix(k.Where, "https://") {
			q.URL, q.Spec, placed = k.Where, version.Specifier{}, false
			q.Text = q.Line()
		}
		if !placed && !ofRepository(q.URL) {
			out = append(out, q)
		}
	}
	return out
}

// place keeps a line that names a folder, an address or a repository.
func (f *lines) place(s, at, name string, editable bool) {
	where, marker, _ := strings.Cut(s, ";")
	where, _, _ = strings.Cut(strings.TrimSpace(where), " --")
	p := Place{Where: strings.Trim(strings.TrimSpace(where), `"'`), Dir: path.Dir(name), Editable: editable, Marker: strings.TrimSpace(marker), From: at}
	if before, fragment, ok := strings.Cut(p.Where, "#egg="); ok {
		egg, rest, _ := strings.Cut(fragment, "&")
		p.Package, p.Where = machine.NormalName(egg), before+say.With("#", rest, "")
	}
	f.p.Places = append(f.p.Places, p)
}

// extraIndex says what becomes of an index beside the default one. Packages could
// be taken from either, whichever offers the higher version (dependency confusion),
// so a lock follows none; PyTorch's own is chosen by envfix.
func (f *lines) extraIndex(url, at string) {
	if Label(url) == "" {
		f.refuse(at, "--extra-index-url: a package could come from either index; tie packages to it with [[index]] name, url and packages in envfix.toml")
	}
}

func (f *lines) refuse(at, format string, args ...any) {
	f.p.Refused = append(f.p.Refused, at+": "+fmt.Sprintf(format, args...))
}

// hashes keeps the SHA-256 of a line; another algorithm cannot be held to a lock's.
func (f *lines) hashes(name, options, at string) {
	for _, o := range strings.Fields("--" + options) {
		sum, is := strings.CutPrefix(o, "--hash=")
		if hex, known := strings.CutPrefix(sum, "sha256:"); is && known {
			f.p.Hashes = append(f.p.Hashes, Hash{name, strings.ToLower(hex)})
		} else if is {
			f.refuse(at, "--hash=%s: only sha256 can be held to the lock's", sum)
		}
	}
}

// places reads where [tool.uv.sources] takes packages from.
func (d *document) places(p *Project, name string) {
	for _, n := range sortedKeys(d.Tool.UV.Sources) {
		for _, item := range listed(d.Tool.UV.Sources[n]) {
			m := table(item)
			if m != nil {
				p.Sources = append(p.Sources, Source{Package: machine.NormalName(n), Index: str(m["index"]), Marker: str(m["marker"]),
					Group: str(m["extra"]) + str(m["group"]), Other: cmp.Or(str(m["git"]), str(m["url"]), str(m["path"]))})
			}
			at := name + ": tool.uv.sources." + n
			where, known := placeOf(m)
			group := str(m["extra"]) + str(m["group"])
			switch {
			case str(m["index"]) != "" || where != "" && !pep508.Asks(p.Requirements, n):
				continue
			case m["workspace"] == true:
				p.Places = append(p.Places, Place{Package: machine.NormalName(n), Dir: path.Dir(name), Marker: str(m["marker"]), From: at})
				fallthrough
			case !known || group != "" && where != "":
				p.Refused = append(p.Refused, at+": of its forms index, path, git and url without a group can be locked")
			default:
				p.Places = append(p.Places, Place{Package: machine.NormalName(n), Where: where, Dir: path.Dir(name),
					Editable: m["editable"] == true, Marker: str(m["marker"]), From: at})
			}
		}
	}
}

// placeOf is the place of one source as a line of a requirements file writes it.
func placeOf(m map[string]any) (where string, known bool) {
	sub := say.With("#subdirectory=", str(m["subdirectory"]), "")
	switch {
	case str(m["path"]) != "":
		return str(m["path"]), true
	case str(m["url"]) != "":
		return str(m["url"]) + sub, true
	case str(m["git"]) != "":
		revision := cmp.Or(str(m["rev"]), str(m["tag"]), str(m["branch"]))
		return "git+" + strings.TrimPrefix(str(m["git"]), "git+") + say.With("@", revision, "") + sub, true
	}
	return "", str(m["index"]) != ""
}
