package team

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/resolver"
)

// A target is one kind of machine of the team: its described machine, and the
// wishes that hold for it alone.
type target struct {
	lock.Target
	machine machine.Machine
	request resolver.Request
	named   bool   // its Python is
	pin     string // a specifier that torch must meet as well; "" none
}

// TargetKeys are what a target's description may say, each like the flag of its
// name (index like --only-index); gpu may be a comma-separated list. torch is the
// version that this target alone is held to.
var TargetKeys = []string{"arch", "build", "channel", "cuda", "driver", "gpu", "index", "libc", "os", "python", "torch"}

// target reads `gpu=V100 driver=580 os=linux python=3.12`. The machine starts as a
// bare Linux with glibc 2.28 and no GPU, whatever this machine is, so that every
// member of a team makes the same lock.
func (t *Team) target(name, said string, in lock.Input) (target, error) {
	out := target{Target: lock.Target{Name: name}}
	bad := func(format string, args ...any) (target, error) {
		return out, fail.Wrong(fmt.Sprintf("target %s: ", clean(name))+fmt.Sprintf(format, args...),
			`write a target as --target v100="gpu=V100 driver=580 os=linux python=3.12"`)
	}
	if first, _, _ := strings.Cut(said, "="); slices.Contains(TargetKeys, name) && !slices.Contains(TargetKeys, strings.TrimSpace(first)) {
		return bad("`%s=` begins the description, and a target has a name of its own before it", name)
	}
	if !lock.ValidName(name) {
		return bad("a name has lower-case letters, digits, - and _, and no dot")
	}
	facts, err := ParseFacts(said)
	if err != nil {
		return bad("%s", err)
	}
	out.Facts = JoinFacts(facts)
	defaults, err := ParseFacts(in.Defaults)
	if err != nil {
		return bad("defaults: %s", err)
	}
	for k, v := range defaults {
		facts[k] = cmp.Or(facts[k], v)
	}
	demand, err := wantPython(facts, in)
	if err != nil {
		return bad("%s", err)
	}
	if facts["driver"] != "" {
		if facts["driver"], err = t.wholeDriver(facts); err != nil {
			return bad("%s", err)
		}
	}
	out.machine, out.request, err = t.Describe(neutralMachine(facts["os"]), facts)
	if err != nil {
		return out, err
	}
	if facts["gpu"] == "none" {
		out.machine.GPUs = nil
	}
	out.request.Requirements, out.request.ProjectPython, out.named = nil, demand, facts["python"] != ""
	out.request.AsNamed = append(out.request.AsNamed, text.Each(in.AsNamed, machine.NormalName)...)
	if out.request.Policy, err = policyOf(in.Policy, lock.File); err != nil {
		return out, err
	}
	if v := facts["torch"]; v != "" {
		if _, err := version.ParsePython(v); err != nil {
			return bad("torch=%s is not a version", clean(v))
		}
		out.pin = "==" + v
	}
	return out, nil
}

// wholeDriver is the driver of a description; a branch alone, such as 580, means its
// latest release.
func (t *Team) wholeDriver(facts map[string]string) (string, error) {
	v, err := machine.ParseDriver(facts["driver"])
	if err != nil {
		return facts["driver"], nil // none, or what Describe refuses
	}
	v, err = t.Matrix.WholeDriver(v, facts["os"] == "windows" || facts["os"] == "wsl2")
	return v.String(), err
}

// neutralMachine is where a description starts.
func neutralMachine(os string) machine.Machine {
	h := machine.Machine{Format: machine.Format, Privilege: "none", Platform: machine.Platform{OS: "linux", Arch: "x86_64",
		Environment: machine.Bare, Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.28")}}}
	if os == "windows" {
		h.Platform.Libc = nil
	}
	return h
}

// ParseFacts splits a description; values with blanks stand in single or double
// quotes: gpu='RTX 5090'.
func ParseFacts(description string) (map[string]string, error) {
	facts := map[string]string{}
	for rest := strings.TrimSpace(description); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || !slices.Contains(TargetKeys, key) {
			return nil, fmt.Errorf("`%s` is not understood; keys are %s", text.Clip(rest, 60), strings.Join(TargetKeys, ", "))
		}
		if _, twice := facts[key]; twice {
			return nil, fmt.Errorf("`%s` stands twice", key)
		}
		var value string
		if after != "" && (after[0] == '\'' || after[0] == '"') {
			end := strings.IndexByte(after[1:], after[0])
			if end < 0 {
				return nil, fmt.Errorf("the quote of `%s` is not closed", key)
			}
			value, rest = after[1:end+1], after[end+2:]
		} else {
			value, rest = untilKey(after)
		}
		if value == "" {
			return nil, fmt.Errorf("`%s` has no value", key)
		}
		facts[key] = value
	}
	return facts, nil
}

// untilKey splits an unquoted value from the next key: gpu=RTX 4090 driver=580.
func untilKey(s string) (value, rest string) {
	end := len(s)
	for _, k := range TargetKeys {
		if i := strings.Index(s, " "+k+"="); i >= 0 && i < end {
			end = i
		}
	}
	return strings.TrimSpace(s[:end]), s[end:]
}

// JoinFacts writes a description in its canonical form: keys sorted, values with
// blanks quoted.
func JoinFacts(facts map[string]string) string {
	var words []string
	for _, k := range TargetKeys {
		if v, ok := facts[k]; ok {
			if strings.ContainsAny(v, " \"") {
				v = "'" + v + "'"
			}
			words = append(words, k+"="+v)
		}
	}
	return strings.Join(words, " ")
}
