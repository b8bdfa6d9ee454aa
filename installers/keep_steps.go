package installers

import (
	"fmt"
	"net/url"
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/text"
	"envfix/internal/version"
)

// carriedFile lists, within the new environment, what was installed again.
const carriedFile = gen + "/envfix-carried.txt"

// keepSteps installs again what stays, before torch: what cannot be had shows
// before gigabytes are received, and torch's own index then need not supply what
// is there already. Nothing is resolved, so nothing but these versions comes.
func (b *builder) keepSteps(exe string) {
	if b.kept == nil || len(b.kept.Stays) == 0 {
		return
	}
	var copies, lines, sources []string
	var copied, disk int64
	for _, k := range b.kept.Stays {
		_, label := version.SplitLocal(k.Version)
		switch {
		case k.From != "" && strings.HasPrefix(k.From, "-e "):
			sources = append(sources, "--editable", strings.TrimPrefix(k.From, "-e "))
		case strings.HasPrefix(k.From, "git+file:"): // no host: pips before 24 refuse it after a name
			sources = append(sources, k.From)
		case k.From != "":
			sources = append(sources, k.Name+" @ "+k.From)
		case k.Copied:
			copies = append(copies, k.Name+"=="+k.Version)
			copied += b.sizeOf(k.Name)
			continue
		case label != "" && b.choice.Index != nil && label == b.choice.Build:
			b.beside = append(b.beside, k.Name+"=="+k.Version)
		default:
			lines = append(lines, k.Name+"=="+k.Version)
		}
		disk += b.sizeOf(k.Name)
	}
	b.copySteps(exe, copies, copied)
	if len(lines) > 0 {
		b.add(written("carried", fmt.Sprintf("write down the %s that cannot be copied", text.Count(len(lines), "package")),
			"in their exact versions, from "+b.t.Dir, carriedFile, lines...))
		b.add(plan.Step{ID: "carry", Title: "install them again by their names", Disk: disk,
			Why: "before torch, so that what cannot be had shows first; nothing is resolved, so nothing else comes",
			Run: b.again(exe, nil, true, "-r", carriedFile)})
	}
	if len(sources) > 0 {
		b.add(running("sources", "install again what came from a path or an address", "from where it came; what is built runs its own code, as it did before",
			b.again(exe, nil, false, sources...)))
	}
}

// sizeOf is what a package takes on disk, as its RECORD says.
func (b *builder) sizeOf(name string) int64 {
	d, _ := heldDist(b.t.Held, name)
	return d.Bytes
}

// again is one call of the installer that resolves nothing.
func (b *builder) again(exe string, index *string, wheels bool, args ...string) *plan.Run {
	return &plan.Run{Argv: append(b.tool.again(b, exe, index, wheels), args...), Env: b.src.online(b.tool)}
}

var (
	plainURL  = lazy.Regexp(`^[A-Za-z0-9_.~:/@%+=&?,-]+$`)
	gitCommit = lazy.Regexp(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	sha256Hex = lazy.Regexp(`^sha256=[0-9a-f]{64}$`)
	plainPath = lazy.Regexp(`^[A-Za-z0-9_.~/+-]*$`)
)

// again returns how an installer is told to take a package from where it came, or
// why that cannot be.
func again(o *machine.DirectURL) (requirement, why string) {
	u, err := url.Parse(o.URL)
	if o.Gone {
		return "", "came from " + localWords(o.URL) + ", which is no longer there"
	}
	if err != nil || !plainURL().MatchString(o.URL) || !plainPath().MatchString(o.Subdirectory) || strings.Contains(o.Subdirectory, "..") {
		return "", "came from an address that cannot be used again"
	}
	if why := unreachable(u); why != "" {
		return "", why
	}
	fragment := say.With("#subdirectory=", o.Subdirectory, "")
	switch o.Kind {
	case machine.FromEditable, machine.FromDir:
		if requirement = o.URL + fragment; o.Kind == machine.FromEditable {
			requirement = "-e " + requirement
		}
		if u.Scheme == "file" {
			return requirement, ""
		}
	case machine.FromVCS:
		if o.VCS == "git" && gitCommit().MatchString(o.Commit) {
			return "git+" + o.URL + "@" + o.Commit + fragment, ""
		}
		return "", "came from a repository at no commit that is known"
	case machine.FromArchive:
		return archive(o, u, fragment)
	}
	return "", "came from an address, and no hash of the file is known"
}

func archive(o *machine.DirectURL, u *url.URL, fragment string) (requirement, why string) {
	switch {
	case sha256Hex().MatchString(o.Hash):
		return o.URL + "#" + o.Hash + strings.Replace(fragment, "#", "&", 1), ""
	case u.Scheme == "file":
		return o.URL + fragment, ""
	case u.Scheme == "https" && strings.HasSuffix(u.Path, ".whl"): // uv writes no hash down; the files are compared
		return o.URL, ""
	}
	return "", "came from an address, and no hash of the file is known"
}

// unreachable says why nothing is fetched from an address again; "" it can be.
func unreachable(u *url.URL) string {
	switch {
	case u.User != nil && u.Scheme != "ssh":
		return "its address holds a password, which a plan must not"
	case u.Scheme == "ssh" || strings.HasSuffix(u.Scheme, "+ssh"):
		return "came by ssh, and installers are given none of your keys"
	case u.Scheme != "file" && u.Scheme != "https" && u.Scheme != "http":
		return "came by " + u.Scheme
	}
	return ""
}

// localWords is the path of a file URL, or the address.
func localWords(address string) string {
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return "its address"
}
