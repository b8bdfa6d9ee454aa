package project

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/pyproject"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

func isEnvironment(path string) bool {
	return strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")
}

// Environment takes from the followed environment.yml what is no package: conda as the
// installer, its Python, its CUDA. What flags say goes before.
func (w *Wish) Environment() error {
	if DemandsItself(w.Manager) && w.Dir != "" {
		return w.pixiDemands()
	}
	i := slices.IndexFunc(w.Files, isEnvironment)
	if i < 0 {
		return nil
	}
	content, err := ReadFile(w.Files[i])
	e, bad := pyproject.ReadEnvironment(content, w.Files[i], ReadFile)
	if err != nil || bad != nil {
		return nil // said where its packages are read
	}
	if e.Pip {
		w.demands = cmp.Or(w.demands, pyproject.MinorPython(e.Python))
		return nil
	}
	if w.ByFile = w.Manager == ""; w.ByFile {
		w.Manager = managers.FastestConda(func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil || filepath.Base(os.Getenv("MAMBA_EXE")) == program // of a shell's function
		})
	}
	if w.Python == "" {
		w.demands = pyproject.MinorPython(e.Python)
	}
	if w.CPU = w.CPU || e.CPU && w.CUDA == "" && w.Build == ""; !w.CPU {
		w.takeCUDA(e.CUDA)
	}
	if strings.Count(w.CUDA, ".") > 1 {
		return fail.Wrong(text.Escape(w.Files[i])+" names the CUDA "+text.Escape(w.CUDA),
			"write its major.minor there, or name it with `--cuda`")
	}
	return nil
}

// conda reports whether one of conda's programs makes the environment.
func (w *Wish) conda() bool { return slices.Contains(managers.Conda(), w.Manager) }

// Below is what pip installs after what conda does, where conda installs.
func (w *Wish) Below() (below []pep508.Requirement) {
	for _, file := range w.Files {
		if w.conda() {
			below = append(below, wishes(file).Below...)
		}
	}
	return below
}

// takeCUDA follows the CUDA of a file, where no flag names one: it is that of the file's torch.
func (w *Wish) takeCUDA(file string) {
	if slices.Contains(text.Each(w.Relax, machine.NormalName), "torch") {
		return
	}
	w.FileCUDA = w.CUDA == "" && file != ""
	w.CUDA = cmp.Or(w.CUDA, file)
}

// pixiDemands takes from the project of pixi what concerns torch: its Python, and its
// limits of torch and its companions. The rest pixi installs itself.
func (w *Wish) pixiDemands() error {
	name := PixiFile(w.Dir)
	text, err := ReadFile(filepath.Join(w.Dir, name))
	if err != nil || name == "" {
		return nil // a project that the plan makes
	}
	e, err := pyproject.ReadPixi(text, name)
	if err != nil {
		return fail.Wrap(fail.Usage, err, "`--manager uv` installs without the project of pixi")
	}
	w.demands = cmp.Or(w.demands, pyproject.MinorPython(e.Python))
	w.Said = append(w.Said, e.Notes...)
	if !e.Asks("torch") {
		w.Said = append(w.Said, name+" asks for no torch itself: where a package of it brings one, `pixi install` takes that one as it is")
	}
	w.takeCUDA(e.CUDA)
	for _, q := range e.Requirements {
		if family(q) {
			w.Arguments = append(w.Arguments, q.Text)
		}
	}
	return nil
}

// PixiFile is the file of a directory's pixi project; "" there is none.
func PixiFile(dir string) string {
	name, _ := xslices.Find([]string{"pixi.toml", "pyproject.toml"}, func(name string) bool {
		text, err := ReadFile(filepath.Join(dir, name))
		return err == nil && pyproject.IsPixi(text, name)
	})
	return name
}
