package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/managers"
	"envfix/internal/pyproject"
	"envfix/internal/system"
	"envfix/internal/ui"
	"envfix/internal/xslices"
	"envfix/resolver"
)

// The projects of conda and pixi.

func isEnvironment(path string) bool {
	return strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")
}

// environment takes from the followed environment.yml what is no package: conda as the
// installer, its Python, its CUDA. What flags say goes before.
func (f *planFlags) environment() error {
	if demandsItself(f.wish.Manager) && f.wish.project != "" {
		return f.pixiDemands()
	}
	i := slices.IndexFunc(f.wish.files, isEnvironment)
	if i < 0 {
		return nil
	}
	text, err := readProjectFile(f.wish.files[i])
	e, bad := pyproject.ReadEnvironment(text, f.wish.files[i])
	if err != nil || bad != nil {
		return nil // said where its packages are read
	}
	if e.Pip {
		f.wish.demands = cmp.Or(f.wish.demands, pyproject.MinorPython(e.Python))
		return nil
	}
	if f.wish.Manager == "" {
		f.wish.Manager = managers.FastestConda(func(program string) bool {
			_, err := system.Resolve([]string{program}, false)
			return err == nil
		})
		f.target.manager = f.wish.Manager
	}
	if f.wish.Python == "" {
		f.wish.demands = pyproject.MinorPython(e.Python)
	}
	if f.wish.CPU = f.wish.CPU || e.CPU && f.wish.CUDA == "" && f.wish.Build == ""; !f.wish.CPU {
		f.wish.takeCUDA(e.CUDA)
	}
	if strings.Count(f.wish.CUDA, ".") > 1 {
		return fail.Wrong(ui.Clean(f.wish.files[i])+" names the CUDA "+ui.Clean(f.wish.CUDA),
			"write its major.minor there, or name it with `--cuda`")
	}
	return nil
}

// takeCUDA follows the CUDA of a file, where no flag names one.
func (w *wishFlags) takeCUDA(file string) {
	w.fileCUDA = w.CUDA == "" && file != ""
	w.CUDA = cmp.Or(w.CUDA, file)
}

// pixiDemands takes from the project of pixi what concerns torch: its Python, and its
// limits of torch and its companions. The rest pixi installs itself.
func (f *planFlags) pixiDemands() error {
	name := pixiFile(f.wish.project)
	text, err := readProjectFile(filepath.Join(f.wish.project, name))
	if err != nil || name == "" {
		return nil // a project that the plan makes
	}
	e, err := pyproject.ReadPixi(text, name)
	if err != nil {
		return fail.Wrap(fail.Usage, err, "`--manager uv` installs without the project of pixi")
	}
	f.wish.demands = cmp.Or(f.wish.demands, pyproject.MinorPython(e.Python))
	f.wish.takeCUDA(e.CUDA)
	for _, q := range e.Requirements {
		if q.Name == "torch" || slices.Contains(resolver.Companions(), q.Name) {
			f.wish.arguments = append(f.wish.arguments, q.Text)
		}
	}
	return nil
}

// pixiFile is the file of a directory's pixi project; "" there is none.
func pixiFile(dir string) string {
	name, _ := xslices.Find([]string{"pixi.toml", "pyproject.toml"}, func(name string) bool {
		text, err := readProjectFile(filepath.Join(dir, name))
		return err == nil && pyproject.IsPixi(text, name)
	})
	return name
}
