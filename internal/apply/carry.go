package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/text"
)

// A distribution is one that an environment holds, as its files say.
type distribution struct {
	version, digest, tags string
}

// distributions reads what the environment in a directory holds, by normal name.
func (r *run) distributions(dir string) (map[string]distribution, error) {
	out := map[string]distribution{}
	for _, pattern := range []string{"/lib/python*/site-packages/*.dist-info/METADATA", "/Lib/site-packages/*.dist-info/METADATA"} {
		found, err := fs.Glob(r.env.root.FS(), dir+pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			text, err := r.env.root.ReadFile(name)
			if err != nil {
				return nil, err
			}
			header, _, _ := bytes.Cut(text, []byte("\n\n"))
			d := distribution{version: field(header, "Version")}
			if record, err := r.env.root.ReadFile(path.Dir(name) + "/RECORD"); err == nil {
				d.digest = machine.CodeDigest(machine.ReadRecord(record))
			}
			if wheel, err := r.env.root.ReadFile(path.Dir(name) + "/WHEEL"); err == nil {
				d.tags = strings.Join(slices.Sorted(slices.Values(fields(wheel, "Tag"))), " ")
			}
			out[machine.NormalName(field(header, "Name"))] = d
		}
	}
	return out, nil
}

func field(header []byte, name string) string {
	if all := fields(header, name); len(all) > 0 {
		return all[0]
	}
	return ""
}

func fields(header []byte, name string) (out []string) {
	for line := range strings.Lines(string(header)) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			out = append(out, strings.TrimSpace(value))
		}
	}
	return out
}

// carried checks that the packages that stay are in the new environment: in their
// versions, and with the files that they had. Another package of the same name and
// version, on an index that the old one did not come from, would have others.
func (r *run) carried(want []plan.KeptPackage) error {
	if len(want) == 0 || r.inPlace() {
		return nil
	}
	have, err := r.distributions(genPath(r.gen.ID))
	if err != nil {
		return err
	}
	var wrong, moved []string
	for _, k := range want {
		d, there := have[k.Name]
		switch {
		case !there:
			wrong = append(wrong, fmt.Sprintf("%s %s is not there", k.Name, k.Version))
		case k.From != "" && k.Files == "": // built again, it may count its version on
		case !k.Is(d.version) && k.Loose:
			moved = append(moved, fmt.Sprintf("%s %s → %s", k.Name, k.Version, d.version))
		case !k.Is(d.version):
			wrong = append(wrong, fmt.Sprintf("%s is %s, and the plan says %s", k.Name, d.version, k.Version))
		}
	}
	if len(wrong) > 0 {
		return &fail.Error{Code: fail.Verify, Text: "the packages that were carried over are not what the plan says", Details: text.Each(wrong, text.Printable),
			Hints: []string{"nothing was switched; the environment is as it was before"}}
	}
	if err := strangers(want, have); err != nil {
		return err
	}
	if len(moved) > 0 {
		r.say("another version, as what was installed needs it: %s", strings.Join(moved, ", "))
	}
	return nil
}

// carriedSoFar looks at what was carried over as soon as it is installed, before any
// program of the new environment runs: a package of another index would have its
// code run by the next Python that starts there (a .pth file).
func (r *run) carriedSoFar(s plan.Step) error {
	if s.ID != "carry" && s.ID != plan.Copied || r.plan.Keep == nil || r.inPlace() {
		return nil
	}
	have, err := r.distributions(genPath(r.gen.ID))
	if err != nil {
		return err
	}
	return strangers(r.plan.Keep.Stays, have)
}

// copy makes wheels of packages that stay, from the files of the environment in use.
func (r *run) copy(ctx context.Context, i int, mid func() error) error {
	c := r.plan.Steps[i].Copy
	if r.inPlace() || c.Dir != r.plan.Target.Dir {
		return &fail.Error{Code: fail.Usage, Text: fmt.Sprintf("step %d of the plan copies from %q, which it does not replace", i+1, c.Dir)}
	}
	argv := c.Argv(Python(r.fill("{gen}")), r.env.path(r.env.Name), r.fill(plan.CopiedDir))
	err := r.program(ctx, i, system.Command{Argv: argv, Started: mid})
	var e *fail.Error
	if !errors.As(err, &e) || e.Code != fail.Failed {
		return err
	}
	e.Code, e.Text, e.Hints = fail.Integrity, "packages of the environment are not what was installed there, and are not copied", nil
	at := slices.Index(e.Details, "cannot be copied")
	e.Details = e.Details[at+1:]
	for _, line := range e.Details {
		if name, _, found := strings.Cut(line, "=="); found && len(e.Hints) == 0 {
			e.Hints = append(e.Hints, fmt.Sprintf("`--drop %s` leaves it behind, `--from-index %s` takes it from the index in use", name, name))
		}
	}
	e.Hints = append(e.Hints, "nothing was switched; the environment is as it was before")
	return e
}

// strangers refuses packages that have other files than those of their name and
// version which are carried over.
func strangers(want []plan.KeptPackage, have map[string]distribution) error {
	var others []string
	for _, k := range want {
		d, there := have[k.Name]
		built := k.From != "" && k.Files == "" // again: it may differ
		if there && !built && k.Is(d.version) && k.Files != "" && d.digest != k.Files && (d.tags == k.Tags || pure(d.tags) != pure(k.Tags)) {
			others = append(others, k.Name)
		}
	}
	if len(others) > 0 {
		return &fail.Error{Code: fail.Integrity, Text: "the index has other files under the name and version of what was carried over: " + strings.Join(others, ", "),
			Details: []string{"where it came from another index, this is another package; nothing was switched"},
			Hints:   []string{fmt.Sprintf("`--mirror default=URL` names the index that it is from; `--drop %s` leaves it out", others[0])}}
	}
	return nil
}

// pure reports whether a wheel is for every machine.
func pure(tags string) bool { return strings.HasSuffix(tags, "-none-any") }

// What pip check and uv pip check say of two packages.
var (
	complaintLine = lazy.Regexp("^(?:(\\S+) \\S+ requires ([A-Za-z0-9._-]+)\\S*, which is not installed\\.|" +
		"(\\S+) \\S+ has requirement ([A-Za-z0-9._-]+).*, but you have \\S+ \\S+\\.|" +
		"The package `([A-Za-z0-9._-]+)` requires `([A-Za-z0-9._-]+)[^`]*`, but (?:it's not installed|`[^`]*` is installed))$")
	// what uv and pip say of a wheel whose own tag is another one than that of its name, by which it
	// was chosen (decord 0.6.0): packages contradict each other nowhere there, and the proof tries it
	otherTag  = lazy.Regexp("^(The package `\\S+` was built for a different platform|\\S+ \\S+ is not supported on this platform)$")
	checkTalk = lazy.Regexp(`^(\$ .*|Using Python .*|Checked \d+ packages? in .*|Found \d+ incompatibilit(y|ies)|WARNING: .*)?$`)
)

// onlyKnown reports whether all that a check complained of is known: the
// environment that is replaced had it too, or it is a wheel's tag. A line that is not understood is not.
func onlyKnown(output string, known []plan.Complaint) bool {
	complaints := 0
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if checkTalk().MatchString(line) {
			continue
		}
		m := complaintLine().FindStringSubmatch(line)
		if !otherTag().MatchString(line) && (m == nil || !slices.ContainsFunc(known, func(k plan.Complaint) bool {
			return k.Package == machine.NormalName(m[1]+m[3]+m[5]) && k.Needs == machine.NormalName(m[2]+m[4]+m[6])
		})) {
			return false
		}
		complaints++
	}
	return complaints > 0
}

// asBefore reports whether a check failed only for what the plan says that the
// environment has already, which stays as it is.
func (r *run) asBefore(i int, log string) bool {
	s := r.plan.Steps[i]
	if s.Run == nil || len(s.Run.Known) == 0 && !onlyChecks(s) {
		return false
	}
	output, err := os.ReadFile(log)
	if err != nil || !onlyKnown(string(output), s.Run.Known) {
		return false
	}
	r.say("%s", say.Either(len(s.Run.Known) > 0, "as before: the packages contradict each other only where they did in the old environment",
		"a wheel has a tag of another platform inside than in its name, by which it was chosen: the packages contradict each other nowhere"))
	return true
}

// carryHints say how to leave behind what could not be carried over.
func (r *run) carryHints(i int, e *fail.Error) {
	s, c := r.plan.Steps[i], r.plan.Keep
	if c == nil || len(c.Stays) == 0 || r.plan.Target.Amends() || !slices.Contains([]string{"carry", plan.Copied, "sources", "torch", "packages", "check"}, s.ID) {
		return
	}
	said := complaint(e.Details)
	var names []string
	for _, k := range c.Stays {
		if len(names) < 3 && namedIn(said, k.Name) {
			names = append(names, "`--drop "+k.Name+"`")
		}
	}
	switch {
	case len(names) > 0:
		e.Hints = slices.Insert(e.Hints, 0, strings.Join(names, " or ")+" leaves it behind; `--fresh` carries nothing over")
	case s.ID == "check":
		e.Hints = slices.Insert(e.Hints, 0, "`--drop NAME` leaves a package behind, `--fresh` all of them")
	}
}

// complaint is what an installer said last without the lines in which it tells what
// it does, which name packages too.
func complaint(tail []string) string {
	said := ""
	for _, line := range tail {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.Contains(
			[]string{"Collecting", "Downloading", "Using", "Processing", "Obtaining", "Requirement", "Installing", "Preparing", "Building", "Built", "+"},
			first,
		) {
			said += line + "\n"
		}
	}
	return said
}

// namedIn reports whether an installer's message is about a package.
func namedIn(said, name string) bool {
	before := "(?:^|[^a-z0-9._-])"
	forms := fmt.Sprintf("%[1]s%[2]s(?:==| was not found)|`%[2]s(?:`| @)|%[1]sfor %[2]s[ \\n]|\\n%[2]s ", before, regexp.QuoteMeta(name))
	return regexp.MustCompile(forms).MatchString("\n" + strings.ToLower(said))
}
