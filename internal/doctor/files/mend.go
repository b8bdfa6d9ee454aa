package files

import (
	"path"

	"envfix/internal/doctor/evidence"
	"envfix/internal/machine"
	"envfix/internal/text"
)

// pythonPathMend takes the entry of PYTHONPATH out that holds another torch.
func pythonPathMend(e *evidence.Evidence, p machine.ImportPlace) evidence.Mend {
	return e.Repair().Without("PYTHONPATH", evidence.EntryOf(e.Machine.Env["PYTHONPATH"], p.Site()),
		"its torch would come before the environment's")
}

// renameFix says how to move a user's own file out of the way of `import torch`.
// It is the user's: envfix never does it.
func renameFix(p machine.ImportPlace) []string {
	old := p.Path
	if path.Base(old) == "__init__.py" {
		old = path.Dir(old)
	}
	return []string{"`" + text.Command("mv", old, path.Join(path.Dir(old), "my_"+path.Base(old))) + "`, and remove __pycache__ beside it",
		"or start Python from another directory"}
}
