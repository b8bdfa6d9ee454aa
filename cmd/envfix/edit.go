package main

import (
	"context"
	"os"
	"path/filepath"

	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/project"
	"envfix/internal/propose"
	"envfix/internal/pyproject"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/resolver"
)

// edited says what the project's own tool makes of the file that --edit writes, where it would
// not be the choice, or that nobody asked it; "" it is the choice.
func (f planFlags) edited(ctx context.Context, q planning.Question, chosen *resolver.Choice) string {
	m, _ := managers.Find(q.Target.Manager)
	if !q.Target.Edit || chosen == nil || q.Target.Project == nil {
		return ""
	}
	mirrors, uv, why := plan.ParseMirrors(q.Target.Mirrors), system.UV(system.ToolsDir()), ""
	after, sync, err := pyproject.Patch(q.Target.Project, q.Target.ProjectFile, *chosen, q.Machine.Platform, func(index *string) string { return mirrors.There(*index) })
	switch {
	case m.Project(), sync != "uv sync":
		why = "its own tool was not asked"
	case f.target.quick || os.Getenv("ENVFIX_QUICK") != "" || q.Target.Offline:
		why = "uv was not asked"
	case uv == "":
		why = "there is no uv here"
	case err != nil:
		return "" // the step says so
	default:
		dir := filepath.Dir(q.Target.Dir)
		files := map[string][]byte{"pyproject.toml": after}
		for _, name := range f.wish.Packaged(dir) {
			files[name], _ = project.ReadFile(filepath.Join(dir, name)) // uv says what it misses
		}
		made, err := propose.Relock(ctx, uv, team.DefaultIndex(mirrors), files)
		own := &pyproject.OwnLock{}
		if err == nil {
			own, err = pyproject.ReadOwnLock(made, "uv.lock")
		}
		if err != nil {
			return "with what `--edit` writes uv locks nothing: " + ui.Clean(err.Error())
		}
		here := pep508.EnvironmentOf(q.Machine.Platform.OS, q.Machine.Platform.Arch, "")
		torch := say.Either(own.Has("torch", here), say.With("torch ", own.Undoes(chosen), ""), "no torch")
		return say.With("the project decides: with what `--edit` writes, `uv sync` installs ", ui.Clean(torch), "")
	}
	return "whether `" + sync + "` installs this after the edit was not checked: " + why
}
