package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"envfix/internal/cmdline"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/fleet"
	"envfix/internal/project"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/internal/xslices"

	"github.com/urfave/cli/v2"
)

func fleetPlanCommand() *cli.Command {
	return declared("fleet plan", func(c *cli.Context) error {
		since, err := oldest(c.Int("stale"))
		if err != nil {
			return err
		}
		if !c.Bool("lock") {
			_ = confine(c.Context) // without it the answers are the same
		}
		return fleetPlan(c.Context, fleetFlags{
			arguments: c.Args().Slice(), json: c.Bool("json"), previous: c.String("previous"), oldest: since,
			lock: c.Bool("lock"), offline: c.Bool("offline"), mirrors: c.StringSlice("mirror"),
			options: fleet.Options{ChangeDriver: c.Bool("change-driver"), MaxGroups: c.Int("max-groups"), SameTorch: c.Bool("same-torch")},
			wish:    project.Wish{Files: c.StringSlice("requirements"), Request: cmdline.Given[describe.Request](c)},
		}, c.App.Writer)
	})
}

// fleetFlags are all that a fleet's plan is made from.
type fleetFlags struct {
	arguments []string // files of facts, then requirements
	json      bool
	previous  string
	oldest    string // facts of before are too old; "" takes all
	lock      bool
	offline   bool
	mirrors   []string
	options   fleet.Options
	wish      project.Wish
}

// mostMemory is where the garbage collector begins to work harder, in bytes. The names
// of a million machines are some 40 MB; main lets a heap grow to five times that.
const mostMemory = 72 << 20

// oldest is the time that many days ago, in UTC; "" for no days.
func oldest(days int) (string, error) {
	if days < 0 {
		return "", describe.BadValue("stale", fmt.Sprint(days), "write a number of days")
	}
	if days == 0 {
		return "", nil
	}
	return time.Now().UTC().AddDate(0, 0, -days).Format("2006-01-02T15:04:05Z"), nil
}

func fleetPlan(ctx context.Context, f fleetFlags, w io.Writer) error {
	files, requirements := factFiles(f.arguments)
	if len(files) == 0 {
		return fail.Wrong("which machines? no file or folder of facts is named",
			"`envfix facts --class` on each machine prints its line", "`envfix fleet plan --help` lists what is read")
	}
	if f.options.MaxGroups < 0 {
		return describe.BadValue("max-groups", fmt.Sprint(f.options.MaxGroups), "write a number from 1 on")
	}
	m := matrixFor()
	f.wish.Arguments = requirements
	r, err := f.wish.AsRequest(true, today(), policyHere)
	if err != nil {
		return err
	}
	if f.lock { // what the team asks for already counts as well
		own, err := teamIn(".").Asked()
		if err != nil {
			return err
		}
		r.Requirements = append(r.Requirements, own...)
	}
	if f.options.Previous, err = previousGroups(f.previous); err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mostMemory)
	}
	const hint = "`envfix facts --class` on a machine prints the line that is read here"
	in := fleet.New()
	in.Oldest = f.oldest
	if err := collect(in, files, hint); err != nil {
		return err
	}
	if in.Close(); in.Machines() == 0 {
		return fail.Wrong(ui.Clean(strings.Join(files, ", "))+": no machine is in it", hint)
	}
	p, err := fleet.Make(m, in, r, f.options)
	if err != nil {
		return fail.Wrap(fail.Usage, err)
	}
	told := fleetPlanAnswer{Format: 1, Plan: p}
	var locked *fleetLock
	if f.lock {
		if locked, err = f.writeLock(ctx, m, p); err != nil {
			return err
		}
		told.Lock = locked.profiles()
	}
	text := ui.Fleet(p, style(w))
	if locked != nil {
		text += locked.text()
	}
	return answer(w, f.json, told, text, fail.CodeIf(len(p.Unserved) > 0, fail.NoSolution))
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

// A collection takes what was collected of machines: facts, or results.
type collection interface {
	Read(in io.Reader, from, host string) error
	Problem(host, why string)
}

// collect reads files, the files of folders, and standard input; hint says what makes them.
func collect(to collection, files []string, hint string) error {
	for _, name := range files {
		var err error
		switch info, failed := os.Stat(name); {
		case name == "-":
			err = to.Read(os.Stdin, "standard input", "")
		case failed == nil && info.IsDir():
			err = collectFolder(to, name)
		default:
			err = collectFile(to, name, "")
		}
		if err != nil {
			return fail.Wrong(ui.Clean(name+": "+fail.Reason(err)), hint)
		}
	}
	return nil
}

// collectFolder reads every file of a folder; its name, without what stands behind the
// last known ending, is the host where what is in it names none.
func collectFolder(to collection, dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		host := e.Name()
		for _, ending := range []string{".json", ".fact", ".facts"} {
			host = strings.TrimSuffix(host, ending)
		}
		if err := collectFile(to, filepath.Join(dir, e.Name()), host); err != nil {
			to.Problem(host, fail.Reason(err)) // one bad file of many hosts
		}
	}
	return err
}

func collectFile(to collection, path, host string) error {
	file, err := system.OpenInput(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return to.Read(file, path, host)
}

// previousGroups reads the groups of an earlier lock or plan.
func previousGroups(path string) ([]fleet.Pair, error) {
	if path == "" {
		return nil, nil
	}
	previous, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s does not exist", path)
		}
		return nil, &fail.Error{Code: fail.Usage, Text: "--previous: " + ui.Clean(fail.Reason(err)), Err: err}
	}
	if pairs, err := fleet.PlanPairs(previous); err == nil {
		return pairs, nil
	}
	l, _, err := team.At(path)
	if err != nil {
		return nil, &fail.Error{Code: fail.Usage, Text: "--previous: neither a fleet's plan nor a lock: " + ui.Clean(fail.Reason(err)), Err: err}
	}
	var out []fleet.Pair
	for _, p := range l.Profiles {
		torch, _, _ := strings.Cut(p.Torch, "+")
		out = xslices.Add(out, fleet.Pair{Torch: torch, Build: p.Build})
	}
	return out, nil
}

// A fleetPlanAnswer is the JSON of `envfix fleet plan`.
type fleetPlanAnswer struct {
	Format int `json:"format"`
	*fleet.Plan
	Lock []lockedProfile `json:"lock,omitempty"` // with --lock
}
