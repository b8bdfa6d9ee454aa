package team

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/describe"
	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/resolver"
)

// policyFiles are the files that may hold a team's policy, the one that is followed
// first.
var policyFiles = []string{lock.TeamFile, "pyproject.toml"}

// Policy is the team's policy that holds in dir: of the nearest envfix.toml, or
// pyproject.toml with a [tool.envfix.policy], at or above it; nil where none is. The
// search ends where that of [Home] does. A file of a stranger's is not followed and
// named. Its error names the file and what is wrong.
func Policy(dir string) (p *resolver.Policy, stranger string, err error) {
	for _, at := range upward(dir) {
		for _, name := range policyFiles {
			path := filepath.Join(at, name)
			b, err := ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, "", fail.Wrap(fail.Usage, err)
			}
			said, err := lock.PolicyIn(b, name)
			switch {
			case said == nil && err == nil:
				continue
			case system.Foreign(path, dir):
				return nil, path, nil
			case err != nil:
				return nil, "", fail.Wrap(fail.Usage, err, "its keys are "+policyKeys)
			}
			p, err := policyOf(said, name)
			return p, "", err
		}
	}
	return nil, "", nil
}

const policyKeys = "least-driver, cuda, indexes, mirrors, never"

// policyOf is a policy as the resolver reads it. Its error says what of it means nothing.
func policyOf(said *lock.Policy, file string) (*resolver.Policy, error) {
	if said == nil {
		return nil, nil
	}
	p := resolver.Policy(*said)
	bad := func(key, value, hint string) error {
		return fail.Wrong(fmt.Sprintf("%s: [policy]: %s: %q", file, key, clean(value)), hint)
	}
	if p.Driver < 0 || p.Driver > 9999 {
		return nil, bad("least-driver", fmt.Sprint(p.Driver), "write the number of a branch, such as least-driver = 570")
	}
	for _, c := range p.CUDA {
		if _, err := (describe.Request{CUDA: c}).Parse(); err != nil || c == "" {
			return nil, bad("cuda", c, `write versions such as cuda = ["12.6", "13"]`)
		}
	}
	for _, i := range p.Indexes {
		if i != "conda-forge" && !describe.IsIndex(i) {
			return nil, bad("indexes", i, `write "default", "pytorch", "conda-forge", or the https:// URL of an index`)
		}
	}
	for _, m := range p.Mirrors {
		if describe.Mirror(m) != nil {
			return nil, bad("mirrors", m, `write mirrors = ["https://download.pytorch.org/whl=https://mirror.example/whl"]`)
		}
	}
	p.Never = slices.Clone(p.Never)
	for i, name := range p.Never {
		if q, err := describe.Requirement(name); err != nil || q.Name != machine.NormalName(name) {
			return nil, bad("never", name, `write the names of packages alone: never = ["nvidia-pyindex"]`)
		}
		p.Never[i] = machine.NormalName(name)
	}
	return &p, nil
}

// underPolicy adds the mirrors of a policy to those of a call, which go before.
func underPolicy(m plan.Mirrors, p *lock.Policy) plan.Mirrors {
	if p == nil {
		return m
	}
	more := plan.ParseMirrors(p.Mirrors)
	m.Default = cmp.Or(m.Default, more.Default)
	m.Pairs = append(slices.Clone(m.Pairs), more.Pairs...)
	return m
}

// forbidden refuses a lock that would install what the policy never does, whichever
// package brings it.
func forbidden(p *lock.Policy, files map[string][]byte) error {
	if p == nil {
		return nil
	}
	for name, b := range files {
		k, err := lock.DecodePylock(b)
		if err != nil {
			return fail.Wrap(fail.Failed, err)
		}
		for _, never := range p.Never {
			if got := k.Find(machine.NormalName(never)); got != nil {
				return fail.New(fail.NoSolution, fmt.Sprintf("target %s: the team's policy never installs %s, and %s %s would be", name, clean(never), got.Name, got.Version),
					"leave out what brings it, or take it out of [policy] never in "+strings.Join(policyFiles, " or "))
			}
		}
	}
	return nil
}
