package apply

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// A Rooter runs one step with root's rights: itself, or through sudo. It gets the
// step with its placeholders filled.
type Rooter func(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error

// A host is the machine that root's half acts on: the files below a directory, and
// the programs of one directory instead of the system's own. The zero value is this
// machine as it is; tests have others.
type host struct {
	root, programs string
	keys           map[string]string // nil: plan.SigningKeys
}

// argv is a command line for this host.
func (m host) argv(argv []string) []string {
	if m.programs == "" || strings.Contains(argv[0], "/") {
		return argv
	}
	return append([]string{m.programs + "/" + argv[0]}, argv[1:]...)
}

// Direct runs a step as root when we are root.
func Direct(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
	return host{}.direct(ctx, s, out, log)
}

func (m host) direct(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
	if err := CheckRoot(s); err != nil {
		return err
	}
	if s.Write != nil {
		return m.write(s.Write)
	}
	program := filepath.Base(s.Run.Argv[0])
	if program == "rpm" && slices.Contains(s.Run.Argv, "--import") || program == "gpg" { // it takes a key from a file of the user's
		return m.takeKey(ctx, s, out, log)
	}
	if err := m.rehearse(ctx, s); err != nil {
		return err
	}
	return m.run(ctx, s, out, log)
}

// run runs a step's command. It starts in the root directory: what a package manager
// might take for a file of the caller's directory is none there.
func (m host) run(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
	err := system.Run(ctx, system.Command{Argv: m.argv(s.Run.Argv), Env: s.Run.Env, Dir: "/", Root: m.programs == "", Patient: true, Out: out, Log: log})
	var exit *system.ExitError
	if errors.As(err, &exit) && endedWell(s, exit.Code) {
		return nil
	}
	return err
}

func (m host) write(w *plan.Write) error {
	at := m.root + w.Path
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return system.WriteFile(at, []byte(w.Content), os.FileMode(w.Mode))
}

// takeKey takes NVIDIA's signing key. The file lies where a user can exchange it, so
// it is read once, and what is used is what was looked at. For apt the key is
// written here, in the form that `gpg --dearmor` gives it: a Debian may have no gpg.
func (m host) takeKey(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
	name := s.Run.Argv[len(s.Run.Argv)-1]
	file, err := system.ReadFile(name, 1<<20)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	key, err := m.genuine(file, name)
	if err != nil {
		return err
	}
	if filepath.Base(s.Run.Argv[0]) == "gpg" {
		return m.write(&plan.Write{Path: plan.Keyring, Mode: 0o644, Content: string(key)})
	}
	armoured, err := system.Armor(key)
	if err != nil {
		return err
	}
	own, remove, err := system.OwnFile(filepath.Base(name), armoured)
	if err != nil {
		return err
	}
	defer remove()
	run := *s.Run
	run.Argv = append(slices.Clone(run.Argv[:len(run.Argv)-1]), own)
	s.Run = &run
	return m.run(ctx, s, out, log)
}

// genuine returns the packets of a signing key, and refuses one that is not the one its
// name stands for.
func (m host) genuine(file []byte, name string) ([]byte, error) {
	keys := m.keys
	if keys == nil {
		keys = plan.SigningKeys
	}
	id := strings.TrimSuffix(filepath.Base(name), ".pub")
	got, key, err := system.PublicKey(file)
	if want := keys[id]; err != nil || want == "" || got != want {
		return nil, &fail.Error{Code: fail.Integrity, Text: fmt.Sprintf("%s is not NVIDIA's signing key %s", name, id), Err: err,
			Details: []string{"its fingerprint: " + cmp.Or(got, fmt.Sprint(err)), "NVIDIA's: " + cmp.Or(want, "not known to envfix")},
			Hints:   []string{"remove the file and run the command again; where it comes again, somebody sits between you and NVIDIA"}}
	}
	return key, nil
}

// endedWell reports whether an exit status other than 0 is no failure. `dnf
// --assumeno` ends with 1 whatever it shows, which is looked at; zypper says with
// 102 that a reboot is due, and with 103 that it should be run again (zypper(8),
// "EXIT CODES").
func endedWell(s plan.Step, code int) bool {
	switch name := filepath.Base(s.Run.Argv[0]); {
	case name == "dnf":
		return s.Rehearsal != nil && code == 1
	case name == "zypper":
		return code == 102 || code == 103
	}
	return false
}

// systemHalf reports whether a step acts on the system, not on the environment.
func systemHalf(s plan.Step) bool { return s.Root || s.Manual != nil }

// mayRoot refuses a plan with steps for root where there are no rights, and hands
// over a script for who has them.
func (r *run) mayRoot() error {
	steps := xslices.Filter(r.plan.Steps, func(s plan.Step) bool { return s.Root })
	for _, s := range steps {
		if err := CheckRoot(r.filled(s)); err != nil {
			return err
		}
	}
	if err := r.driverAllowed(); err != nil || r.Root != nil || len(steps) == 0 {
		return err
	}
	script := RootScript(r.plan)
	if err := script.Err(); err != nil {
		return err
	}
	hints := []string{"give the script above to an administrator; when it ran, `envfix apply` goes on"}
	if slices.ContainsFunc(r.plan.Steps, func(s plan.Step) bool { return s.ID == plan.BringsUV }) {
		hints = append(hints, "or do without root: put uv on PATH, or name an index in UV_DEFAULT_INDEX, from which envfix brings it")
	}
	return &fail.Error{Code: fail.Privilege, Text: "steps of this plan need root's rights, and there is no way to get them here", Hints: hints, Script: script}
}

// driverAllowed refuses to change a driver where it belongs to another system.
func (r *run) driverAllowed() error {
	if !slices.ContainsFunc(r.plan.Steps, func(s plan.Step) bool { return s.Root && isDriver(s) }) {
		return nil
	}
	if r.plan.Basis.Request.Described {
		return &fail.Error{Code: fail.Preflight, Text: "the machine of this plan was described: its driver is not installed on this one",
			Hints: []string{"plan without `--facts`, `--gpu` and `--driver`, or run the script of `envfix plan --sh` there"}}
	}
	why, elsewhere := map[string]string{
		machine.WSL2:           "under WSL the driver is Windows': update it there",
		machine.Container:      "a container takes the driver of its host: change it there",
		machine.ContainerBuild: "a container takes the driver of its host: change it there",
		machine.Jetson:         "the driver of a Jetson is part of L4T: upgrade JetPack",
	}[r.plan.Basis.Facts.Platform.Environment]
	if !elsewhere {
		return nil
	}
	return &fail.Error{Code: fail.Preflight, Text: "no driver is installed here: " + why}
}

// RootScript is the part of p for an administrator, as a POSIX script: all steps
// up to the last that needs root, and the reboot after it.
func RootScript(p *plan.Plan) text.Quoted {
	part := *p
	last := 0
	for i, s := range p.Steps {
		if systemHalf(s) {
			last = i + 1
		}
	}
	part.Steps = p.Steps[:last]
	return plan.Script(&part)
}

// filled returns s with its placeholders replaced.
func (r *run) filled(s plan.Step) plan.Step {
	if s.Run != nil {
		run := *s.Run
		run.Argv = text.Each(s.Run.Argv, r.fill)
		s.Run = &run
	}
	return s
}

// asRoot runs a step of the system half.
func (r *run) asRoot(ctx context.Context, i int) error {
	s := r.plan.Steps[i]
	log, name, err := r.openLog(i)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	for tries := 1; ; tries++ {
		said.Reset()
		follow := r.screen.follow(r, i)
		out := io.Writer(follow)
		if s.Rehearsal != nil {
			out = io.MultiWriter(follow, &said)
		}
		err = r.Root(ctx, r.filled(s), out, log)
		follow.end()
		if err = r.explain(i, err, r.env.path(name), tries); !fetches(s) || !r.again(ctx, err, tries) {
			break
		}
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	if s.Rehearsal != nil {
		return judge(s, said.String())
	}
	return r.effect(ctx, s)
}

// fetches reports whether a step for root only brings files here, and so can be
// done twice: what installs goes on from what was brought.
func fetches(s plan.Step) bool {
	return s.Run != nil && slices.ContainsFunc(s.Run.Argv, func(a string) bool {
		return slices.Contains([]string{"update", "makecache", "refresh", "download", "--download-only", "--downloadonly"}, a)
	})
}

// carriedOn reports whether step i was done before by this plan: of the system
// half only, for the environment is built anew. A reboot is done when the boot is
// another one.
func (r *run) carriedOn(ctx context.Context, i int) (bool, error) {
	s := r.plan.Steps[i]
	if !systemHalf(s) {
		return false, nil
	}
	for _, e := range slices.Backward(r.journal.entries) {
		if e.Plan == r.plan.ID && e.Env == r.env.Name && ended(e.State) {
			return false, nil
		}
		if e.Plan != r.plan.ID || e.Step != s.ID || e.Env != r.env.Name {
			continue
		}
		switch {
		case e.State == Done:
			return true, nil
		case e.State != Waiting:
			return false, nil
		case s.Manual == nil || !s.Manual.Reboot:
			return r.Resume, nil // a person said so
		}
		return rebooted(ctx, r, e)
	}
	return false, nil
}

// rebooted reports whether the machine was started anew since, with the driver of the plan.
func rebooted(ctx context.Context, r *run, since Entry) (bool, error) {
	if since.Boot == r.journal.boot {
		return false, nil
	}
	if r.Facts != nil && r.plan.Driver.Branch != nil {
		return true, r.driverIs(ctx, true)
	}
	return true, nil
}

// other refuses to begin a plan while another one has changed the system and is
// not done.
func (r *run) other() error {
	open := r.journal.unfinished(r.env.Name)
	if open == nil || open.Plan == r.plan.ID {
		return nil
	}
	return &fail.Error{Code: fail.Busy, Text: fmt.Sprintf("another plan (%s) has begun to change the system and is not done", open.Note),
		Hints: []string{"`envfix apply --resume` goes on with it", "`envfix apply --abandon` gives it up"}}
}

// ended reports whether a state ends a plan.
func ended(s State) bool {
	return s == End || s == Failure || s == Abandoned || s == Recovered
}

// helpers are where an administrator puts a program that only root can change.
var helpers = []string{"/usr/local/libexec/envfix", "/usr/local/bin/envfix", "/usr/local/sbin/envfix", "/usr/bin/envfix"}

// sameProgram reports whether a file holds what this program is.
func sameProgram(self string) func(path string) bool {
	return func(path string) bool {
		_, a, err := system.FileSum(self)
		_, b, err2 := system.FileSum(path)
		return err == nil && err2 == nil && a == b
	}
}

// ViaSudo runs steps for root by this program under sudo; tell hears whom that trusts.
func ViaSudo(sudo string, tell io.Writer) Rooter {
	said := false
	return func(ctx context.Context, s plan.Step, out io.Writer, log *system.Log) error {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		self, own, err := system.Helper(self, helpers, sameProgram(self))
		if err != nil {
			return fail.New(fail.Privilege, text.Escape(err.Error()),
				"`sudo install -D -m 755 $(command -v envfix) /usr/local/bin/envfix` makes a copy that only root can change")
		}
		if own && !said {
			said = true
			fmt.Fprintf(tell, "envfix: note: root's steps are given to %s, which you can change, and so can what runs as you; "+
				"`sudo install -D -m 755 %s /usr/local/bin/envfix` makes a copy that only root can\n", text.Escape(self), text.Escape(self))
		}
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return system.Run(ctx, system.Command{Argv: []string{sudo, "-n", "--", self, "__root"}, Stdin: b, Patient: true, Out: out, Log: log})
	}
}
