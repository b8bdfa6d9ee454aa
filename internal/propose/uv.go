package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"envfix/internal/lazy"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/team"
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/internal/xslices"
)

// A job is one question to uv.
type job struct {
	lines, limits, overrides []string
	python                   string
	sources                  []Source // whose metadata was read; nothing of them is built
	index                    bool     // the address of the default index is what is asked for
}

// A refusal is what uv says where it finds no solution.
type refusal struct{ text string }

func (no *refusal) Error() string { return no.text }

// compile has uv resolve a job for the platform, in a directory of its own and without
// anybody's configuration, and returns the versions. Nothing is built. Its error is a
// *refusal where no solution is.
func (l *Loop) compile(ctx context.Context, j job) (map[string]string, error) {
	l.calls++
	out, err := l.run(ctx, j)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		name, version, ok := strings.Cut(strings.TrimSpace(line), "==")
		version, _, _ = strings.Cut(version, " ")
		if ok && !strings.HasPrefix(name, "#") {
			found[name] = version
		}
	}
	return found, nil
}

func (l *Loop) run(ctx context.Context, j job) (string, error) {
	if l.left <= 0 {
		return "", errLate
	}
	argv := []string{"pip", "compile", "in.txt", "--no-header", "--no-annotate", "--only-binary", ":all:", "--python-version", j.python, "--python-platform", l.Platform}
	env := team.UVEnvironment(os.Environ(), l.Index)
	files := map[string][]string{"in.txt": j.lines, "limits.txt": j.limits, "overrides.txt": j.overrides}
	if len(j.limits)+len(j.sources) > 0 {
		argv = append(argv, "--constraint", "limits.txt")
	}
	if len(j.overrides) > 0 {
		argv = append(argv, "--override", "overrides.txt")
	}
	switch {
	case j.index:
		argv = append(argv, "--no-deps", "--emit-index-url")
	case l.AsOf != "":
		argv = append(argv, "--exclude-newer", l.AsOf+"T23:59:59Z")
	}
	if len(j.sources) > 0 { // in place of a configuration file that uv would find
		argv = append([]string{"--config-file", "uv.toml"}, argv...)
		env = slices.DeleteFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "UV_NO_CONFIG=") })
	}
	named := slices.Concat(j.lines, j.limits, j.overrides)
	addresses := slices.ContainsFunc(named, func(line string) bool { return strings.Contains(line, "@") }) // of the project's: none of the user's logins is for them
	for _, s := range j.sources {
		argv = append(argv, "--no-binary", s.Name)
		files["uv.toml"] = append(files["uv.toml"], s.metadata())
		files["limits.txt"] = append(files["limits.txt"], s.Name+"=="+s.Version) // of other versions nothing is known
	}
	r := team.UVRun{Command: system.Command{Argv: append([]string{l.UV}, argv...), Grace: time.Second / 2, Stall: l.still, Work: l.left},
		Files: map[string][]byte{}, Errs: system.Tail{Most: 1 << 20}}
	for name, lines := range files {
		r.Files[name] = team.Lines(lines)
	}
	err := r.Run(ctx, func(dir string) []string { return slices.Concat(env, say.Either(addresses, team.Stranger(dir), nil)) })
	l.left -= r.Took
	_, stalled := errors.AsType[*system.StallError](err)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case stalled:
		l.left = 0
		return "", errLate
	case err != nil && strings.Contains(r.Errs.String(), "No solution found"):
		return "", &refusal{words(&r, err)}
	case err != nil:
		return "", failed(&r, err)
	}
	return r.Out.String(), nil
}

// defaultIndex is the address of the index that uv takes packages from.
func (l *Loop) defaultIndex(ctx context.Context) string {
	if l.Index != "" || l.UV == "" {
		return l.Index
	}
	out, err := l.run(ctx, job{lines: []string{"pip"}, python: "3.12", index: true})
	if err != nil {
		return ""
	}
	for line := range strings.Lines(out) {
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "--index-url "); ok {
			return url
		}
	}
	return ""
}

// What uv says in its refusals (uv 0.13).
var (
	wheelsRequired = lazy.Regexp("Wheels are required for `([^`]+)`")
	notThere       = lazy.Regexp(`(?:Because |and )([A-Za-z0-9._-]+) was not found in the package registry`)
	noUsable       = lazy.Regexp(`([A-Za-z0-9._-]+?)((?:[=<>~]=?)\S+) has no (?:usable wheels|wheels with a matching Python)`)
	otherTags      = lazy.Regexp("only found wheels for `([^`]+)` \\([^)]*\\) with the following Python (?:ABI|implementation) tags?")
)

// unusable are the packages that uv names as those without a wheel here.
func (no *refusal) unusable() []string {
	name := func(m []string) string { return m[1] }
	return xslices.Once(text.Each(wheelsRequired().FindAllStringSubmatch(no.text, -1), name), text.Each(otherTags().FindAllStringSubmatch(no.text, -1), name))
}

// missing are the packages that uv found on no index.
func (no *refusal) missing() []string {
	return text.Each(notThere().FindAllStringSubmatch(no.text, -1), func(m []string) string { return m[1] })
}

// versions are those of a package that uv found no wheel of; false: it names none.
func (no *refusal) versions(name string) (version.Specifier, bool) {
	if no == nil {
		return version.Specifier{}, false
	}
	for _, m := range noUsable().FindAllStringSubmatch(no.text, -1) {
		if m[1] == name {
			spec, err := version.ParseSpecifier(strings.TrimRight(m[2], ",."))
			return spec, err == nil
		}
	}
	return version.Specifier{}, false
}

// sentence is why uv found no solution, in its own words.
func (no *refusal) sentence() string {
	_, cause, ok := strings.Cut(no.text, "Because ")
	if !ok {
		return text.Cut(no.text, 240)
	}
	cause, _, _ = strings.Cut(cause, " hint: ")
	return text.Cut("because "+cause, 300)
}

// failed is why uv gave no answer: what its words mean, else its error without the warnings
// before it.
func failed(r *team.UVRun, err error) error {
	said := words(r, err)
	if _, after, ok := strings.Cut(said, "error: "); ok {
		said = after
	}
	what, _ := team.Fault(said)
	return fmt.Errorf("uv: %s", cmp.Or(what, text.Cut(said, 300)))
}

// words are what uv said, in one line; else why it could not be asked.
func words(r *team.UVRun, err error) string {
	return text.Printable(strings.Join(strings.Fields(cmp.Or(r.Errs.String(), err.Error())), " "))
}
