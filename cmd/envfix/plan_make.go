package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/apply"
	"envfix/internal/bring"
	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/managers"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/project"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/matrix"
	"envfix/resolver"
)

// make gathers facts and wishes and has the plan made.
func (f planFlags) make(ctx context.Context) (*plan.Plan, error) { return f.mending(ctx, nil, nil) }

// mending is make where doctor knows what must be mended (nil: it does not) and
// adds requirements.
func (f planFlags) mending(ctx context.Context, mend *plan.Repair, more func(*resolver.Request)) (*plan.Plan, error) {
	q, w, err := f.question(ctx)
	if err != nil {
		return nil, err
	}
	if more != nil {
		more(&q.Request)
	}
	if q.Target.Repair = mend; mend != nil {
		q.Wish = f.madeWith()
	}
	p, err := q.Make(w)
	if err == nil && (p.Decision == resolver.NoSolution || p.Decision == resolver.UpgradeDriver) {
		p.Alternatives = append(p.Alternatives, slices.Concat(f.wish.OtherList(q), f.wish.Loosened(q))...)
		err = plan.Seal(p)
	}
	silent, asked := q.Machine.SilentDriver(), q.Request.CPU || q.Request.Build == "cpu"
	if err == nil && silent != "" && p.Decision == resolver.InstallCPU && !asked {
		return nil, &fail.Error{Code: fail.NoSolution, Text: silent,
			Details: []string{"what fits this machine cannot be told while the driver does not answer; a build for the CPU would be no answer"},
			Hints: []string{"`envfix doctor` says what to do about the driver",
				"`envfix plan --gpu NAME --driver VERSION` plans for the GPU as you name it; `--cpu` for none"}}
	}
	return p, err
}

// question gathers all that a plan stands on, and what it may ask of this machine.
func (f planFlags) question(ctx context.Context) (q planning.Question, w planning.Ports, err error) {
	if err = project.OnlyFiles("."); err != nil {
		return q, w, err
	}
	q.Envfix, q.Matrix = buildVersion, matrixFor()
	var described bool
	if q.Machine, described, err = f.machine.gather(ctx); err != nil {
		return q, w, err
	}
	q.Words = f.machine.words
	if q.Request, err = f.wish.AsRequest(described, today(), policyHere); err != nil {
		return q, w, err
	}
	f.unlessSolved(&q)
	if f.wish.FileCUDA && len(q.Machine.GPUs) == 0 { // a file speaks of its author's machine
		f.wish.Said = append(f.wish.Said, fmt.Sprintf("the project's file names CUDA %s, which is not followed: there is no GPU", q.Request.CUDA))
		q.Request.CUDA = ""
	}
	if err = f.wish.TakeNames(&q); err != nil {
		return q, w, err
	}
	if q.Target, err = f.where(q.Machine); err != nil {
		return q, w, err
	}
	if f.machine.here() {
		bring.FromNothing(ctx, q.Machine, &q.Target, defaultIndex, f.machine.mode != examines)
	}
	if err = asOf(&q, q.Target.AsOf); err != nil {
		return q, w, err
	}
	q.Read = f.wish.Read
	if len(f.wish.Files) == 0 {
		q.Said = f.wish.Arguments
	}
	q.Wish = f.remembered(described)
	// what is installed in another environment, on another machine or in the system is not in the new one
	q.Apart = f.machine.facts == "" && (f.machine.elsewhere() || !place.IsEnv(q.Target.Dir))
	w.Tools = func(h machine.Machine) machine.Machine { return f.withOwnTools(ctx, h) }
	w.Lock = f.lockedPlan
	w.Propose = func(q planning.Question) *planning.Proposal { return f.proposed(ctx, q, described) }
	w.Look = f.look(ctx, q, f.machine.mode != examines)
	w.Read = f.read(ctx, q, f.machine.mode != examines)
	w.Cautions = func(c *resolver.Choice) []string {
		return slices.Concat(f.cautions(q, c), f.unproven(ctx, q, c), say.All(f.edited(ctx, q, c)))
	}
	if !described && os.Getenv("ENVFIX_ROOT") == "" { // below a root there is another machine
		w.Drivers = func(manager string, names []string) *machine.DriverPackages {
			return apply.AskDriverPackages(ctx, manager, names)
		}
	}
	return q, w, nil
}

// unlessSolved takes uv in place of conda, which a project's file chose, where conda has no
// build that fits and uv has.
func (f *planFlags) unlessSolved(q *planning.Question) {
	solved := func(q planning.Question) bool {
		b, err := q.Brief()
		return err == nil && b.Decision != resolver.NoSolution
	}
	other, wish := *q, f.wish
	wish.Manager = managers.Usual
	var err error
	if other.Request, err = wish.AsRequest(q.Request.Described, today(), policyHere); !wish.ByFile || err != nil || solved(*q) || !solved(other) {
		return // what is wrong was said of the same files
	}
	wish.Said = append(wish.Said, "conda's channels have no build that fits here: uv installs what its file asks for, as far as an index has it")
	f.wish, *q = wish, other
}

// remembered is what was asked for when the environment was made: nil for another
// machine, or where it is to be forgotten. Which packages are wanted a project or files say.
func (f planFlags) remembered(described bool) *plan.Wish {
	w := f.madeWith()
	if described && !f.machine.made || f.machine.elsewhere() || f.target.FreshWish || w == nil {
		return nil
	}
	if f.wish.Dir != "" || len(f.wish.Files) > 0 {
		w.Packages = nil
	}
	if w.Machine = nil; f.machine.made {
		w.Machine = &f.machine.words
	}
	return w
}

// madeWith is what was asked for when the environment in use was made; nil: nothing that
// no file says.
func (f planFlags) madeWith() *plan.Wish {
	dir, _, err := place.Environment(f.target.env)
	if err != nil {
		return nil
	}
	return apply.WishOf(dir)
}

// cautions are what the plan warns of beside what the resolver does: what the project
// asks for and the plan does not follow, and data that is old.
func (f planFlags) cautions(q planning.Question, c *resolver.Choice) []string {
	env := pep508.EnvironmentOf(q.Machine.Platform.OS, q.Machine.Platform.Arch, "")
	silent := say.With("", q.Machine.SilentDriver(), ": what the driver says was asked of nvidia-smi and the system's files")
	dir, _, err := place.Environment(f.target.env)
	strange := say.If(err == nil && !f.machine.elsewhere() && !f.target.FreshWish && apply.StrangeWish(dir),
		"what was asked for when the environment was made is left out: this user did not write that here, or the home was not kept; name it again")
	unfollowed := say.If(!f.machine.elsewhere(), f.wish.Unfollowed())
	if q.Target.Edit { // what the project's own tool would undo is what is written, and is asked below
		c = nil
	}
	return say.All(append(f.wish.Warnings(c, env), silent, strange, unfollowed, f.syncWarning(q.Target), matrixAge(q.Matrix, q.Request.Today))...)
}

// withOwnTools is the machine with the programs that the steps run: also the uv
// that an earlier plan put into envfix's own tools, where there is no other. What
// apply carries out here it does with the programs that are here, never with those
// that a facts file names.
func (f planFlags) withOwnTools(ctx context.Context, h machine.Machine) machine.Machine {
	if f.machine.facts != "" {
		if f.machine.mode != carriesOut {
			return h
		}
		here := thisMachine(ctx, f.machine.env, false)
		h.Tools, h.Pythons = here.Tools, here.Pythons
	}
	if f.machine.elsewhere() && f.machine.mode != carriesOut { // what is below this home is not there
		return h
	}
	uv := system.OwnTool(system.ToolsDir(), "uv")
	if uv != "" && !slices.ContainsFunc(h.Tools, func(t machine.Tool) bool { return t.Name == "uv" }) {
		h.Tools = append(slices.Clone(h.Tools), machine.Tool{Name: "uv", Path: uv})
	}
	return h
}

// asOf leaves out of a question what torch released after a day; which GPU, driver and
// system run what is known as of now. "" is no day.
func asOf(q *planning.Question, day string) error {
	if day == "" {
		return nil
	}
	_, err := time.Parse(time.DateOnly, day)
	q.Matrix = q.Matrix.Until(day)
	if err != nil || slices.ContainsFunc(q.Matrix.Releases, func(r *matrix.Release) bool { return r.Date > day }) {
		return describe.BadValue("as-of", day, "write a day such as `--as-of 2024-05-31`, of which a torch is known here")
	}
	return nil
}

// unproven says of a project that names no version of torch that nobody tried it with
// this one, and of one whose torch has newer releases how what it names no version of can be
// that of then.
func (f planFlags) unproven(ctx context.Context, q planning.Question, c *resolver.Choice) []string {
	if f.wish.Dir == "" || f.wish.Lock != nil || project.DemandsItself(f.wish.Manager) || c == nil || c.Torch == "" {
		return nil
	}
	said := "what nothing names a version of is as of today"
	if !slices.ContainsFunc(q.Request.Requirements, func(q pep508.Requirement) bool { return q.Name == "torch" && !q.Spec.IsZero() }) {
		why := say.Either(slices.Contains(f.wish.Relax, "torch"), "its version of torch is set aside", "what is followed names no version of torch")
		said = fmt.Sprintf("nothing is proven for this project: %s, and %s is what fits here", why, c.Torch)
	}
	if day := f.then(ctx, q.Matrix); day != "" {
		return []string{said + "; its last commit is of " + day + ": `--as-of " + day + "` takes torch and the packages of then"}
	}
	return say.All(say.If(strings.HasPrefix(said, "nothing"), said))
}

// then is the day of the last commit of the project that is followed, where torch was released
// since and it is asked for as of today; else "".
func (f planFlags) then(ctx context.Context, m *matrix.Matrix) string {
	day := f.lastCommit(ctx)
	since := slices.ContainsFunc(m.Releases, func(r *matrix.Release) bool { return r.Date > day })
	known := slices.ContainsFunc(m.Releases, func(r *matrix.Release) bool { return r.Date != "" && r.Date <= day }) // else --as-of is refused
	return say.If(f.target.AsOf == "" && since && known, day)
}

// lastCommit is the day of the newest commit of the project that is followed; "" it is in
// no repository of its own.
func (f planFlags) lastCommit(ctx context.Context) string {
	if _, err := os.Lstat(filepath.Join(f.wish.Dir, ".git")); f.wish.Dir == "" || err != nil {
		return ""
	}
	cmd, err := system.Git(ctx, f.wish.Dir, "log", "-1", "--format=%cs", "HEAD")
	if err != nil {
		return ""
	}
	out, _ := cmd.Output() // an empty repository has none
	return strings.TrimSpace(string(out))
}
