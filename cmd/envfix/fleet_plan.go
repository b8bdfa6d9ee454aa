package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/fleet"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/ui"

	"github.com/urfave/cli/v2"
)

func fleetPlanCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "one choice for all machines where one exists, else the fewest groups",
		ArgsUsage: "FACTS… [REQUIREMENT…]",
		Description: `FACTS is a file, a folder of files, or - for standard input: lines of
` + "`envfix facts --class`" + ` or ` + "`--json`" + ` (with a "host"), Ansible's cache of facts,
` + "`kubectl get nodes -o json`" + `, ` + "`scontrol show nodes --json`" + `, or CSV with the columns
host and gpu (driver, os, arch, python, libc). A file in a folder whose facts
name no host is named by its file. No machine is dropped: what nothing is known
of is listed. The order of the input changes nothing.

Machines in one group can have the same torch and build. A machine that needs
another driver first says so; --change-driver lets more of them be changed where
that saves a group. --previous keeps groups of an earlier lock or plan.

EXAMPLES
  envfix fleet plan facts/
  ansible all -m command -a 'envfix facts --class' ...   (docs/fleet.md)
  envfix fleet plan nodes.csv torch==2.9.* vllm --json
  kubectl get nodes -o json | envfix fleet plan -
  envfix fleet plan facts/ --change-driver --max-groups 2

EXIT STATUS
  0  every machine that is known has an answer, if after a change of its driver
  2  usage, or input that cannot be read
  3  some machine has no answer`,
		Flags: []cli.Flag{
			jsonFlag("print the plan as JSON"),
			&cli.BoolFlag{Name: "change-driver", Usage: "drivers may change where that saves a group"},
			&cli.IntFlag{Name: "max-groups", Usage: "at most `N` groups: those that serve most machines"},
			&cli.BoolFlag{Name: "same-torch", Usage: "one torch for every group, where one exists"},
			&cli.StringFlag{Name: "previous", Usage: "keep the groups of `FILE`: an envfix.lock, or an earlier plan as JSON"},
			&cli.StringSliceFlag{Name: "requirements", Aliases: []string{"r"}, Usage: "read requirements from `FILE`, or from a pyproject.toml"},
			&cli.StringFlag{Name: "cuda", Usage: "CUDA `VERSION`: 12.6 is that one, 12 any 12.x"},
			&cli.StringFlag{Name: "build", Usage: "`BUILD` of torch: cu126, cpu, rocm7.2, xpu or mps"},
			&cli.StringFlag{Name: "python", Usage: "Python `VERSION` on every machine"},
			&cli.BoolFlag{Name: "jit", Usage: "the jobs compile kernels at run time (torch.compile, triton)"},
			&cli.StringFlag{Name: "only-index", Usage: "take torch only from `INDEX`: default, pytorch or a URL"},
		},
		Action: func(c *cli.Context) error {
			return fleetPlan(fleetFlags{
				arguments: c.Args().Slice(), json: c.Bool("json"), previous: c.String("previous"),
				options: fleet.Options{ChangeDriver: c.Bool("change-driver"), MaxGroups: c.Int("max-groups"), SameTorch: c.Bool("same-torch")},
				wish: wishFlags{files: c.StringSlice("requirements"), Request: describe.Request{Python: c.String("python"), CUDA: c.String("cuda"),
					Build: c.String("build"), JIT: c.Bool("jit"), OnlyIndex: c.String("only-index")}},
			}, c.App.Writer)
		},
	}
}

// fleetFlags are all that a fleet's plan is made from.
type fleetFlags struct {
	arguments []string // files of facts, then requirements
	json      bool
	previous  string
	options   fleet.Options
	wish      wishFlags
}

func fleetPlan(f fleetFlags, w io.Writer) error {
	files, requirements := factFiles(f.arguments)
	if len(files) == 0 {
		return &fail.Error{Code: fail.Usage, Text: "which machines? no file or folder of facts is named",
			Hints: []string{"`envfix facts --class` on each machine prints its line", "`envfix fleet plan --help` lists what is read"}}
	}
	if f.options.MaxGroups < 0 {
		return badValue("max-groups", fmt.Sprint(f.options.MaxGroups), "write a number from 1 on")
	}
	m, err := matrixFor()
	if err != nil {
		return err
	}
	f.wish.arguments = requirements
	r, err := f.wish.request(true)
	if err != nil {
		return err
	}
	if f.options.Previous, err = previousGroups(f.previous); err != nil {
		return err
	}
	in, err := readFleet(files, os.Stdin)
	if err != nil {
		return err
	}
	p, err := fleet.Make(m, in, r, f.options)
	if err != nil {
		return &fail.Error{Code: fail.Usage, Text: err.Error(), Err: err}
	}
	if f.json {
		err = writeJSON(w, fleetPlanAnswer{1, p})
	} else {
		_, err = io.WriteString(w, ui.Fleet(p, style(w)))
	}
	if err == nil && len(p.Unserved) > 0 {
		err = &fail.Error{Code: fail.NoSolution}
	}
	return err
}

// factFiles splits arguments into what is on disk, or looks like a path, and
// requirements.
func factFiles(arguments []string) (files, requirements []string) {
	for _, a := range arguments {
		_, err := os.Stat(a)
		if a == "-" || err == nil || strings.ContainsRune(a, filepath.Separator) || slices.Contains([]string{".json", ".jsonl", ".csv"}, filepath.Ext(a)) {
			files = append(files, a)
		} else {
			requirements = append(requirements, a)
		}
	}
	return files, requirements
}

// readFleet reads files, the files of folders, and standard input.
func readFleet(files []string, stdin io.Reader) (*fleet.Inventory, error) {
	in := fleet.New()
	for _, name := range files {
		var err error
		if info, statErr := os.Stat(name); name == "-" {
			err = in.Read(stdin, "standard input", "")
		} else if statErr == nil && info.IsDir() {
			err = readFolder(in, name)
		} else {
			err = readFacts(in, name, "")
		}
		if err != nil {
			return nil, &fail.Error{
				Code:  fail.Usage,
				Text:  ui.Clean(name + ": " + reason(err)),
				Err:   err,
				Hints: []string{"`envfix facts --class` on a machine prints the line that is read here"},
			}
		}
	}
	in.Close()
	return in, nil
}

// readFolder reads every file of a folder; its name, without what stands behind the
// last known ending, is the host where the facts name none.
func readFolder(in *fleet.Inventory, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		host := e.Name()
		for _, ending := range []string{".json", ".fact", ".facts"} {
			host = strings.TrimSuffix(host, ending)
		}
		if err := readFacts(in, filepath.Join(dir, e.Name()), host); err != nil {
			in.Problem(host, reason(err)) // one bad file of many hosts
		}
	}
	return nil
}

func readFacts(in *fleet.Inventory, path, host string) error {
	file, err := system.OpenInput(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return in.Read(file, path, host)
}

// previousGroups reads the groups of an earlier lock or plan.
func previousGroups(path string) ([]fleet.Pair, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s does not exist", path)
		}
		return nil, &fail.Error{Code: fail.Usage, Text: "--previous: " + ui.Clean(reason(err)), Err: err}
	}
	if pairs, err := fleet.PlanPairs(text); err == nil {
		return pairs, nil
	}
	l, _, err := team.At(path)
	if err != nil {
		return nil, &fail.Error{Code: fail.Usage, Text: "--previous: neither a fleet's plan nor a lock: " + ui.Clean(reason(err)), Err: err}
	}
	var out []fleet.Pair
	for _, p := range l.Profiles {
		torch, _, _ := strings.Cut(p.Torch, "+")
		if pair := (fleet.Pair{Torch: torch, Build: p.Build}); !slices.Contains(out, pair) {
			out = append(out, pair)
		}
	}
	return out, nil
}

// A fleetPlanAnswer is the JSON of `envfix fleet plan`.
type fleetPlanAnswer struct {
	Format int `json:"format"`
	*fleet.Plan
}
