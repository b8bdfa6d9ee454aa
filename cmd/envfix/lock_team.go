package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/team"
	"envfix/internal/ui"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// teamIn is the team whose lock lies, or shall lie, in dir.
func teamIn(c *cli.Context, dir string) (*team.Team, error) {
	m, err := matrixFor()
	if err != nil {
		return nil, err
	}
	return &team.Team{Dir: dir, Matrix: m, Build: buildVersion, Tools: toolsDir(), Describe: targetDescriber(c), Project: projectFile}, nil
}

// targetDescriber turns a target's description into the flags that it stands for.
func targetDescriber(c *cli.Context) func(machine.Machine, map[string]string) (machine.Machine, resolver.Request, error) {
	return func(h machine.Machine, facts map[string]string) (machine.Machine, resolver.Request, error) {
		ctx, err := targetContext(c, facts)
		if err != nil {
			return h, resolver.Request{}, err
		}
		for _, override := range []func(*cli.Context, *machine.Machine) (bool, error){overrideOS, overrideArch, overrideLibc, overrideGPUs, overrideDriver} {
			if _, err := override(ctx, &h); err != nil {
				return h, resolver.Request{}, err
			}
		}
		r, err := gatherRequest(ctx, true)
		return h, r, err
	}
}

func targetContext(c *cli.Context, facts map[string]string) (*cli.Context, error) {
	set := flag.NewFlagSet("target", flag.ContinueOnError)
	for _, f := range append(describeFlags(), requestFlags()...) {
		if err := f.Apply(set); err != nil {
			return nil, err
		}
	}
	for _, key := range team.TargetKeys {
		value, ok := facts[key]
		if !ok || key == "gpu" && value == "none" {
			continue
		}
		values := []string{value}
		if key == "gpu" {
			values = strings.Split(value, ",")
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

// lockTargets reads --facts and --target.
func lockTargets(facts, pairs []string) ([]lock.Target, error) {
	var machines []machine.Machine
	for _, path := range facts {
		h, err := factsFile(path)
		if err != nil {
			return nil, err
		}
		machines = append(machines, h)
	}
	out := team.Classes(machines)
	for _, pair := range pairs {
		name, facts, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, badValue("target", pair, `write --target v100="gpu=V100 driver=580 os=linux python=3.12"`)
		}
		name = strings.TrimSpace(name)
		if slices.ContainsFunc(out, func(t lock.Target) bool { return t.Name == name }) {
			return nil, &failure{code: exitUsage, text: fmt.Sprintf("two targets are called %s", ui.Clean(name))}
		}
		out = append(out, lock.Target{Name: name, Facts: strings.Trim(facts, `"`)})
	}
	return out, nil
}

func factsFile(path string) (machine.Machine, error) {
	f, err := os.Open(path)
	if err != nil {
		return machine.Machine{}, badFacts(path, err)
	}
	defer f.Close()
	h, err := machine.Read(f)
	if err != nil {
		return h, badFacts(path, err)
	}
	return h, nil
}
