package main

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// A lockTarget is one kind of machine of the team: its described machine, and the
// wishes that hold for it alone.
type lockTarget struct {
	lock.Target
	machine machine.Machine
	request resolver.Request
	pin     string // a specifier that torch must meet as well; "" none
}

// targetKeys are what a target's description may say, each like the flag of its
// name (index like --only-index); gpu may be a comma-separated list.
var targetKeys = []string{"arch", "build", "cuda", "driver", "gpu", "index", "libc", "os", "python"}

// parseTarget reads `v100="gpu=V100 driver=580 os=linux python=3.12"`. The
// machine starts as a bare Linux with glibc 2.28 and no GPU, whatever this
// machine is, so that every member of a team makes the same lock.
func parseTarget(c *cli.Context, m *matrix.Matrix, name, text string) (lockTarget, error) {
	t := lockTarget{Target: lock.Target{Name: name}}
	bad := func(format string, args ...any) (lockTarget, error) {
		return t, &failure{code: exitUsage, text: fmt.Sprintf("target %s: ", ui.Clip(name, 60)) + fmt.Sprintf(format, args...),
			hints: []string{`write a target as --target v100="gpu=V100 driver=580 os=linux python=3.12"`}}
	}
	if !lock.ValidName(name) {
		return bad("a name has lower-case letters, digits, - and _, and no dot")
	}
	facts, err := targetFacts(text)
	if err != nil {
		return bad("%s", err)
	}
	t.Facts = joinFacts(facts)
	ctx, err := targetContext(c, m, facts)
	if err != nil {
		return bad("%s", err)
	}
	t.machine = neutralMachine(facts["os"])
	for _, override := range []func(*cli.Context, *machine.Machine) (bool, error){overrideOS, overrideArch, overrideLibc, overrideGPUs, overrideDriver} {
		if _, err := override(ctx, &t.machine); err != nil {
			return t, err
		}
	}
	if facts["gpu"] == "none" {
		t.machine.GPUs = nil
	}
	t.request, err = gatherRequest(ctx, true)
	t.request.Requirements = nil
	return t, err
}

// neutralMachine is where a description starts.
func neutralMachine(os string) machine.Machine {
	h := machine.Machine{Format: machine.Format, Privilege: "none",
		Platform: machine.Platform{OS: "linux", Arch: "x86_64", Environment: machine.Bare, Libc: &machine.Libc{Kind: "glibc", Version: version.MustDotted("2.28")}}}
	if os == "windows" {
		h.Platform.Libc = nil
	}
	return h
}

// targetFacts splits a description; values with blanks stand in single or double
// quotes: gpu='RTX 5090'.
func targetFacts(text string) (map[string]string, error) {
	facts := map[string]string{}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || !slices.Contains(targetKeys, key) {
			return nil, fmt.Errorf("`%s` is not understood; keys are %s", ui.Clip(rest, 60), strings.Join(targetKeys, ", "))
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
			value, rest, _ = strings.Cut(after, " ")
		}
		if value == "" {
			return nil, fmt.Errorf("`%s` has no value", key)
		}
		facts[key] = value
	}
	return facts, nil
}

// joinFacts writes a description in its canonical form: keys sorted, values with
// blanks quoted.
func joinFacts(facts map[string]string) string {
	var words []string
	for _, k := range targetKeys {
		if v, ok := facts[k]; ok {
			if strings.ContainsAny(v, " \"") {
				v = "'" + v + "'"
			}
			words = append(words, k+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// targetContext turns a description into the flags that it stands for. A driver
// branch alone, such as 580, means its latest release.
func targetContext(c *cli.Context, m *matrix.Matrix, facts map[string]string) (*cli.Context, error) {
	set := flag.NewFlagSet("target", flag.ContinueOnError)
	for _, f := range append(describeFlags(), requestFlags()...) {
		if err := f.Apply(set); err != nil {
			return nil, err
		}
	}
	for _, key := range targetKeys {
		value, ok := facts[key]
		if !ok || key == "gpu" && value == "none" {
			continue
		}
		values := []string{value}
		switch key {
		case "gpu":
			values = strings.Split(value, ",")
		case "driver":
			if n, err := strconv.Atoi(value); err == nil {
				b, known := m.Branch(n)
				if !known {
					return nil, fmt.Errorf("no driver branch %d is known", n)
				}
				values[0] = b.Latest.String()
				if facts["os"] == "windows" || facts["os"] == "wsl2" {
					values[0] = b.LatestWindows.String()
				}
			}
		}
		if key == "index" {
			key = "only-index"
		}
		for _, v := range values {
			if err := set.Set(key, v); err != nil {
				return nil, err
			}
		}
	}
	return cli.NewContext(c.App, set, nil), nil
}
