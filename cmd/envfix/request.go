package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/pep508"
	"envfix/internal/ui"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// managers are the values of --manager.
var managers = []string{"uv", "pip", "conda", "mamba", "micromamba", "uv-project"}

// requestFlags are the flags that say what is wanted; plan, apply, why and lock
// share them.
func requestFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "requirements", Aliases: []string{"r"}, Usage: "read requirements from `FILE`, or from a pyproject.toml"},
		&cli.StringFlag{Name: "python", Usage: "Python `VERSION`, such as 3.12 or 3.14t"},
		&cli.StringFlag{Name: "cuda", Usage: "CUDA `VERSION`: 12.6 is that one, 12 any 12.x"},
		&cli.StringFlag{Name: "build", Usage: "`BUILD` of torch: cu126, cpu, rocm7.2, xpu or mps"},
		&cli.BoolFlag{Name: "cpu", Usage: "a CPU build is what is wanted"},
		&cli.StringFlag{Name: "manager", Usage: "install with `TOOL`: " + strings.Join(managers, ", ")},
		&cli.StringFlag{Name: "env", Value: ".venv", Usage: "the environment in `DIR`"},
		&cli.BoolFlag{Name: "in-place", Usage: "change the environment itself instead of building a new one beside it"},
		&cli.BoolFlag{Name: "offline", Usage: "use no network"},
		&cli.BoolFlag{Name: "change-driver", Usage: "the plan may install or change the driver"},
		&cli.BoolFlag{Name: "jit", Usage: "the job compiles kernels at run time (torch.compile, triton)"},
		&cli.StringFlag{Name: "only-index", Usage: "take torch only from `INDEX`: default, pytorch or a URL"},
		&cli.StringSliceFlag{Name: "mirror", Usage: "`FROM=TO`: fetch TO wherever a plan names FROM"},
		&cli.StringFlag{Name: "gpus", Usage: "use only these GPUs: a `LIST` of indexes such as 0,2"},
	}
}

var (
	pythonText = lazy.Regexp(`^(3\.\d{1,2})(\.\d{1,3})?(t?)$`)
	cudaText   = lazy.Regexp(`^\d{1,2}(\.\d{1,2})?$`)
	buildText  = lazy.Regexp(`^(cpu|xpu|mps|cu\d{2,4}|rocm\d{1,2}(\.\d{1,2}){0,2})$`)
)

// gatherRequest reads the wish from flags and arguments. described says that the
// machine is described by flags or a file instead of being this one. Every
// malformed value is a usage error.
func gatherRequest(c *cli.Context, described bool) (resolver.Request, error) {
	r := resolver.Request{
		CPU: c.Bool("cpu"), JIT: c.Bool("jit"), ChangeDriver: c.Bool("change-driver"),
		Described: described, Today: today(),
	}
	var err error
	if r.Python, err = pythonFlag(c.String("python")); err != nil {
		return r, err
	}
	if r.CUDA = c.String("cuda"); r.CUDA != "" && !cudaText().MatchString(r.CUDA) {
		return r, badValue("cuda", r.CUDA, "write `--cuda 12.6` for that version or `--cuda 12` for any 12.x")
	}
	if r.Build = c.String("build"); r.Build != "" && !buildText().MatchString(r.Build) {
		return r, badValue("build", r.Build, "builds are named like cu126, cpu, rocm7.2, xpu and mps")
	}
	if r.CPU && r.Build != "" && r.Build != "cpu" {
		return r, &failure{code: exitUsage, text: fmt.Sprintf("`--cpu` and `--build %s` exclude each other", r.Build), hints: []string{"drop one of them"}}
	}
	if r.Manager = c.String("manager"); r.Manager != "" && !slices.Contains(managers, r.Manager) {
		f := badValue("manager", r.Manager, "managers are "+strings.Join(managers, ", "))
		return r, f
	}
	if r.OnlyIndex, err = onlyIndex(c.String("only-index")); err != nil {
		return r, err
	}
	if r.GPUs, err = gpuList(c.String("gpus")); err != nil {
		return r, err
	}
	if r.Requirements, err = requirements(c); err != nil {
		return r, err
	}
	if !described {
		r.ProjectPython = projectPython(".")
	}
	return r, nil
}

func badValue(flag, value, hint string) *failure {
	return &failure{code: exitUsage, text: fmt.Sprintf("`--%s %s` is not understood", flag, ui.Clip(value, 60)), hints: []string{hint}}
}

// pythonFlag reads "3.12", "3.12.4" (as 3.12) and "3.14t".
func pythonFlag(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	m := pythonText().FindStringSubmatch(s)
	if m == nil {
		return "", badValue("python", s, "write a version such as `--python 3.12`, or `--python 3.14t` for the free-threaded one")
	}
	return m[1] + m[3], nil
}

func onlyIndex(s string) (string, error) {
	if s == "" || s == "default" || s == "pytorch" || isIndexURL(s) {
		return s, nil
	}
	return "", badValue("only-index", s, "write `default`, `pytorch`, or the https:// URL of an index")
}

// isIndexURL admits what may reach an installer's argv: an http or https URL
// without credentials, blanks or control characters.
func isIndexURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	host, _, _ := strings.Cut(rest, "/")
	return ok && host != "" && !strings.ContainsAny(host, "@") && s == ui.Clean(s) && !strings.ContainsAny(s, " \"'`\\<>")
}

func gpuList(s string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		if s == "" {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n > 1023 {
			return nil, badValue("gpus", s, "write indexes as `envfix facts` shows them: `--gpus 0,2`")
		}
		out = append(out, n)
	}
	return out, nil
}

// requirement reads one PEP 508 requirement.
func requirement(text string) (pep508.Requirement, error) {
	q, err := pep508.Parse(text, "")
	if err != nil {
		return q, &failure{code: exitUsage, text: ui.Clean(err.Error()), err: err,
			hints: []string{"write a requirement such as `torch==2.9.*`, `torchvision` or `'vllm>=0.10'`"}}
	}
	return q, nil
}

// requirements reads the positionals and the files of -r.
func requirements(c *cli.Context) ([]pep508.Requirement, error) {
	var out []pep508.Requirement
	for _, a := range c.Args().Slice() {
		if err := notAFile(a); err != nil {
			return nil, err
		}
		q, err := requirement(a)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	for _, file := range c.StringSlice("requirements") {
		more, err := requirementsFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// notAFile refuses an argument that names a file, such as requirements.txt: as a
// requirement it would be a package of that name (requirements-txt), which somebody
// may have made for those who mistype.
func notAFile(arg string) error {
	_, suffix, dotted := strings.Cut(arg, ".")
	// ruamel.yaml and discord.py are packages.
	known := dotted && slices.Contains([]string{"txt", "toml", "in", "lock", "md", "cfg"}, suffix)
	if info, err := os.Stat(arg); !known && (err != nil || !info.Mode().IsRegular() || !dotted) {
		return nil
	}
	return &failure{code: exitUsage, text: ui.Clip(arg, 60) + " is the name of a file, not of a package",
		hints: []string{"`-r FILE` reads requirements from a file, or from a pyproject.toml", "a plan that `envfix plan --out` wrote ends in .json"}}
}

// today is the date that a plan reasons with; ENVFIX_TODAY fixes it, so that a
// plan can be made again later.
func today() string {
	if s := os.Getenv("ENVFIX_TODAY"); s != "" {
		return s
	}
	return time.Now().UTC().Format("2006-01-02")
}

// matrixFor loads the compatibility data that a command works with: what the
// program was built with, or the newer release that `envfix matrix update` took.
// A release that is damaged or not trusted any more is not used, and said so.
func matrixFor() (*matrix.Matrix, error) {
	m, err := matrix.Embedded()
	if err != nil {
		return nil, &failure{code: exitFailed, text: err.Error(), err: err}
	}
	newer, err := installedMatrix(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "envfix: warning: the updated matrix is not used: %s\n", ui.Clean(err.Error()))
	}
	if newer != nil {
		return newer, nil
	}
	return m, nil
}

// checkMirror refuses a --mirror that is not FROM=TO with index URLs.
func checkMirror(pair string) error {
	from, to, ok := strings.Cut(pair, "=")
	if !ok || from != "default" && !isIndexURL(from) || !isIndexURL(to) {
		return badValue("mirror", pair, "write `--mirror https://download.pytorch.org/whl=https://mirror.example/whl`, or `--mirror default=URL`")
	}
	return nil
}
