package doctor

import (
	"fmt"
	"path"

	"envfix/internal/machine"
)

// unshadow says how to take a directory off the loader's path: for good at every
// place that puts it there, and at once.
func unshadow(l machine.LoadedLibrary) []string {
	dir := dirOf(l)
	var fix []string
	for _, o := range l.Origins {
		fix = append(fix, removeFrom(o, dir))
	}
	switch {
	case l.Via == "LD_LIBRARY_PATH" && len(fix) == 0:
		fix = append(fix, "remove "+dir+" from LD_LIBRARY_PATH where it is set; no file that was looked at sets it")
	case l.Via == "ld.so.cache" && len(fix) == 0, l.Via == "default":
		fix = append(fix, "remove "+dir+" from the loader's configuration, or the package that owns "+l.Path)
	case l.Via != "LD_LIBRARY_PATH" && len(fix) == 0:
		fix = append(fix, "`pip install --force-reinstall --no-deps torch`")
	}
	if l.Via == "LD_LIBRARY_PATH" {
		fix = append(fix, "`unset LD_LIBRARY_PATH` mends this shell")
		for _, o := range l.Origins {
			if editable(o) {
				return append(fix, "`envfix doctor --fix` keeps it out where the environment is active; with `--edit-profile` it also edits "+o.File)
			}
		}
		fix = append(fix, "`envfix doctor --fix` keeps it out where the environment is active")
	}
	return fix
}

// editable reports whether an origin is a file of the user's own that envfix can
// add a block to.
func editable(o machine.Origin) bool {
	return o.Kind == machine.OriginProfile && machine.ShellProfile(o.File)
}

// removeFrom says how to take a directory out of one place.
func removeFrom(o machine.Origin, dir string) string {
	switch o.Kind {
	case machine.OriginModule:
		return fmt.Sprintf("`module unload %s`, and out of the profile or job script that loads it", o.Name)
	case machine.OriginConda:
		if path.Base(o.File) == "state" {
			return "`conda env config vars unset LD_LIBRARY_PATH`, then activate the environment again"
		}
		return fmt.Sprintf("take %s out of %s, or remove the package that brought that script", dir, o.Place())
	case machine.OriginSystemd:
		return fmt.Sprintf("take %s out of %s (`systemctl edit %s`), then `systemctl restart %s`", dir, o.Place(), o.Name, o.Name)
	case machine.OriginEnvironment, machine.OriginEnvironmentD:
		return fmt.Sprintf("take %s out of %s, and log in again", dir, o.Place())
	case machine.OriginContainer:
		return fmt.Sprintf("take %s out of the image's ENV LD_LIBRARY_PATH, or start the container with `-e LD_LIBRARY_PATH=`", dir)
	case machine.OriginLoader:
		return fmt.Sprintf("take %s out of %s, then `sudo ldconfig`", dir, o.Place())
	}
	return fmt.Sprintf("take %s out of %s, and open a new shell", dir, o.Place())
}
