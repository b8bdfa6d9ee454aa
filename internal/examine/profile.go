package examine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"envfix/installers"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// EditProfiles adds to a plan the steps that take entries out in the profiles of
// the user's own that set them. What comes from elsewhere a person has to take
// out: the findings say where.
func EditProfiles(patient *read.Case, p *plan.Plan) error {
	home, err := os.UserHomeDir()
	if err != nil || os.Getenv("ENVFIX_ROOT") != "" || p.Target.Repair == nil {
		return nil
	}
	var files []string
	fixes := map[string][]plan.EnvFix{}
	for _, f := range p.Target.Repair.Fixes { // what findings name: they have seen the files
		for _, o := range originsOf(patient, f) {
			if o.Kind != machine.OriginProfile || !machine.ShellProfile(o.File) {
				continue
			}
			files = xslices.Add(files, o.File)
			f.From = o.Place()
			fixes[o.File] = append(fixes[o.File], f)
		}
	}
	for i, file := range files {
		step, ok, err := profileStep(home, file, fixes[file])
		if err != nil {
			return fail.Because(err, fail.Failed, text.Escape(err.Error()), "without `--edit-profile` the profile is left alone")
		}
		if ok {
			if i > 0 {
				step.ID = fmt.Sprintf("profile-%d", i+1)
			}
			p.Steps = append(p.Steps, step)
		}
	}
	if len(files) == 0 {
		p.Warnings = append(p.Warnings,
			"`--edit-profile`: no profile in your home directory sets what is to be taken out, so none is edited")
	}
	return plan.Seal(p)
}

// originsOf is where the entry of a fix comes from.
func originsOf(patient *read.Case, f plan.EnvFix) []machine.Origin {
	if f.Action != "remove" || patient.Files == nil {
		return nil
	}
	switch f.Variable {
	case "LD_LIBRARY_PATH":
		d, _ := xslices.Find(patient.Machine.LibraryDirs, func(d machine.LibraryDir) bool { return d.Path == f.Value })
		return d.Origins
	case "PYTHONPATH":
		i, _ := xslices.Find(patient.Files.Imports, func(i machine.ImportPlace) bool {
			return i.Place == machine.InPythonPath && strings.HasPrefix(i.Path, filepath.Clean(f.Value)+"/")
		})
		return i.Origins
	}
	v, _ := xslices.Find(patient.Files.Variables, func(v machine.Variable) bool { return v.Name == f.Variable && v.Value == f.Value && !v.AtStart })
	return v.Origins
}

// profileStep reads one profile and makes its step.
func profileStep(home, file string, fixes []plan.EnvFix) (plan.Step, bool, error) {
	path := filepath.Join(home, strings.TrimPrefix(file, "~/"))
	text, err := system.ReadFile(path, 1<<20)
	if err != nil {
		return plan.Step{}, false, fmt.Errorf("%s: %w", path, err)
	}
	s, ok := installers.ProfileStep(installers.Profile{Path: path, Shown: file, SHA256: fmt.Sprintf("%x", sha256.Sum256(text)),
		Block: system.BlockLines(string(text), installers.ProfileBlock), Fixes: fixes})
	return s, ok, nil
}
