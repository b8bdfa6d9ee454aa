package evidence

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"envfix/internal/doctor/read"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// OutOf says how to take a directory out of a variable: for good at every place
// that puts it there, and at once.
func OutOf(variable, dir string, origins []machine.Origin) []string {
	fix := text.Each(origins, func(o machine.Origin) string { return RemoveFrom(o, variable, dir) })
	if len(fix) == 0 {
		fix = append(fix, "remove "+dir+" from "+variable+" where it is set; no file that was looked at sets it")
	}
	fix = append(fix, "`unset "+variable+"` mends this shell")
	for _, o := range origins {
		if editable(o) {
			return append(fix,
				"`envfix doctor --fix` keeps it out where the environment is active; with `--edit-profile` it also edits "+o.File)
		}
	}
	return append(fix, "`envfix doctor --fix` keeps it out where the environment is active")
}

// FromOrigins is what puts a directory there, as evidence.
func FromOrigins(origins []machine.Origin, dir string) []read.Evidence {
	return text.Each(origins, func(o machine.Origin) read.Evidence { return Fact("from %s: %s", o, dir) })
}

// editable reports whether an origin is a file of the user's own that envfix can
// add a block to.
func editable(o machine.Origin) bool {
	return o.Kind == machine.OriginProfile && machine.ShellProfile(o.File)
}

// RemoveFrom says how to take a directory out of one place.
func RemoveFrom(o machine.Origin, variable, dir string) string {
	switch o.Kind {
	case machine.OriginModule:
		return fmt.Sprintf("`module unload %s`, and out of the profile or job script that loads it", o.Name)
	case machine.OriginConda:
		if path.Base(o.File) == "state" {
			return "`conda env config vars unset " + variable + "`, then activate the environment again"
		}
		return fmt.Sprintf("take %s out of %s, or remove the package that brought that script", dir, o.Place())
	case machine.OriginSystemd:
		return fmt.Sprintf("take %s out of %s (`systemctl edit %s`), then `systemctl restart %s`", dir, o.Place(),
			o.Name, o.Name)
	case machine.OriginEnvironment, machine.OriginEnvironmentD:
		return fmt.Sprintf("take %s out of %s, and log in again", dir, o.Place())
	case machine.OriginContainer:
		return fmt.Sprintf("take %s out of the image's ENV %s, or start the container with `-e %s=`", dir, variable,
			variable)
	case machine.OriginPython:
		return fmt.Sprintf("take %s out of %s: every Python of this environment runs that file when it starts", dir, o.Place())
	case machine.OriginLoader:
		return fmt.Sprintf("take %s out of %s, then `sudo ldconfig`", dir, o.Place())
	}
	return fmt.Sprintf("take %s out of %s, and open a new shell", dir, o.Place())
}

// Away is how a library is taken out of what puts it before another: an entry out of its
// variable, which is mended too, a directory out of the loader's configuration, which is the
// system's. What the environment's own files lead to is mended by building it anew.
func (e Repair) Away(f *Finding, l machine.LoadedLibrary) {
	dir, variable := DirOf(l), strings.HasPrefix(l.Via, "LD_") // LD_LIBRARY_PATH, LD_PRELOAD
	switch {
	case variable:
		f.Do(OutOf(l.Via, dir, l.Origins)...).Mends(e.Without(l.Via, l.Entry, "its "+l.Name+" comes before the one that belongs there"))
	case len(l.Origins) > 0:
		f.Do(RemoveFrom(l.Origins[0], "", dir))
	case l.Via == "ld.so.cache", l.Via == "default":
		f.Do("remove " + dir + " from the loader's configuration, or the package that owns " + l.Path)
	default:
		f.Do("`pip install --force-reinstall --no-deps {torch-here}`")
	}
	if l.Wheel != "" && (l.Via == "RPATH" || l.Via == "RUNPATH") {
		f.Mends(e.Rebuild(l.Wheel))
	}
}

// DirOf is the directory, or the file, as it stands in the variable or in the configuration.
func DirOf(l machine.LoadedLibrary) string {
	if l.Entry != "" {
		return path.Clean(l.Entry)
	}
	return cmp.Or(l.Dir, path.Dir(l.Path))
}
