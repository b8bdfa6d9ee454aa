package pyproject

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"envfix/internal/pep508"
	"envfix/internal/text"
	"envfix/internal/version"
)

// An Environment is what conda's environment.yml asks for.
type Environment struct {
	Project
	CUDA string // of pytorch-cuda, cuda-version or cudatoolkit: 12.4; "" it names none
	CPU  bool   // cpuonly or pytorch-cpu
	Pip  bool   // torch stands below `pip:`, and nothing of it among conda's packages: pip's part is followed

	builds []string // the packages of which it names a build
}

// torchNames are conda's names of what pip calls torch; a build for the GPU or the CPU
// is told by the second and third.
var torchNames = []string{"pytorch", "pytorch-gpu", "pytorch-cpu"}

// cudaNames are the packages of conda that say which CUDA is meant.
var cudaNames = []string{"pytorch-cuda", "cuda-version", "cudatoolkit"}

// ReadEnvironment reads an environment.yml: its Python, its CUDA, and its packages in
// pip's names. What stands below `pip:` comes after conda's, unless torch stands there alone:
// then that part is what is asked for. open reads the lists that it names; nil: none. Its
// error names the file and what was wrong.
func ReadEnvironment(content []byte, name string, open func(path string) ([]byte, error)) (*Environment, error) {
	var d struct {
		Channels     []string `yaml:"channels"`
		Dependencies []any    `yaml:"dependencies"`
		Package      []any    `yaml:"package"`
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB: this is not a project file", name, maxFile>>20)
	}
	if err := decodeYAML(content, &d); err != nil {
		return nil, fmt.Errorf("%s: %s", name, text.Cut(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	if len(d.Package) > 0 {
		return nil, fmt.Errorf("%s is a lock of conda-lock, which installs it: what it was made from says what is wanted", name)
	}
	e := &Environment{}
	var pip []string
	for _, item := range d.Dependencies {
		switch v := item.(type) {
		case string:
			if err := e.add(v, name); err != nil {
				return nil, err
			}
		case map[string]any:
			pip = append(pip, text.Each(anyList(v["pip"]), str)...)
			delete(v, "pip")
			e.below(v, name)
		default:
			return nil, fmt.Errorf("%s: dependencies: %s is neither a package nor a list below `pip:`", name, text.Cut(fmt.Sprint(item), 60))
		}
	}
	if len(e.builds) > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: the build is not followed, envfix chooses it: %s", name, few(e.builds)))
	}
	e.follow(pip, name, open)
	if other := slices.DeleteFunc(slices.Clone(d.Channels), ours); len(other) > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: the channel %s is not followed: torch comes from conda-forge, or from the channel pytorch up to 2.5.1",
			name, text.Cut(strings.Join(other, ", "), 100)))
	}
	return e, nil
}

// mostKeys is far more than a mapping of an environment.yml has. yaml.v3 compares each
// key with each other one, which takes minutes for a hundred thousand.
const mostKeys = 1000

// decodeYAML reads YAML of strangers into a value.
func decodeYAML(content []byte, v any) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return err
	}
	if n := largest(&doc); n > mostKeys {
		return fmt.Errorf("a mapping of %d keys: this is not a project file", n)
	}
	return doc.Decode(v) // it refuses aliases that grow
}

// largest is how many keys the largest mapping of a document has.
func largest(n *yaml.Node) (keys int) {
	if n.Kind == yaml.MappingNode {
		keys = len(n.Content) / 2
	}
	for _, c := range n.Content { // an alias' node is not among them
		keys = max(keys, largest(c))
	}
	return keys
}

func ours(channel string) bool {
	return slices.Contains([]string{"conda-forge", "pytorch", "nvidia", "defaults", "nodefaults"}, channel)
}

// add reads one of conda's specifications: "python=3.12", "conda-forge::pytorch>=2.5",
// "numpy 1.26.*", "pytorch=2.5=cuda*".
func (e *Environment) add(spec, file string) error {
	if _, bare, ok := strings.Cut(spec, "::"); ok {
		spec = bare
	}
	spec = strings.TrimSpace(strings.SplitN(spec, "#", 2)[0])
	name, limit := spec, ""
	if at := strings.IndexAny(spec, " =<>!~["); at >= 0 {
		name, limit = spec[:at], strings.TrimSpace(spec[at:])
	}
	limit, _, bracket := strings.Cut(limit, "[")
	limit, build := condaLimit(limit)
	if build != "" || bracket {
		e.builds = append(e.builds, text.Escape(text.Cut(name, 60)))
	}
	name = strings.ToLower(name)
	bare := strings.TrimSuffix(strings.TrimLeft(limit, "="), ".*")
	switch {
	case name == "python":
		e.Python = limit
		return nil
	case name == "cpuonly":
		e.CPU = true
		return nil
	case slices.Contains(cudaNames, name), name == "cuda" && e.CUDA == "":
		if e.CUDA = ""; strings.Trim(bare, "0123456789.") == "" {
			e.CUDA = version.Minor(bare)
		}
		return nil
	case slices.Contains([]string{"cuda", "pip", "pytorch-mutex"}, name), strings.HasPrefix(name, "_"): // cuda: the toolkit, as new as torch's CUDA
		return nil
	case slices.Contains(torchNames, name):
		e.CPU = e.CPU || name == "pytorch-cpu" || strings.HasPrefix(build, "cpu")
		name = "torch"
	}
	q, err := pep508.Parse(name+limit, file)
	_, bad := pep508.Parse(name, file)
	if v, exact := strings.CutPrefix(limit, "=="); err != nil && bad == nil && name != "torch" && exact && !strings.ContainsAny(v, " <>=!~,") {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: %q is a version of conda's alone and is not followed", file, text.Cut(spec, 60)))
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %q is no specification of conda that can be read: %w", file, text.Cut(spec, 60), err)
	}
	e.Requirements = append(e.Requirements, q)
	return nil
}

// follow takes pip's part in place of conda's, where torch stands there alone, else after it.
func (e *Environment) follow(lines []string, name string, open func(path string) ([]byte, error)) {
	torch := func(q pep508.Requirement) bool { return q.Name == "torch" }
	below, err := ReadRequirements([]byte(strings.Join(lines, "\n")), name, open)
	if err != nil {
		e.below(map[string]any{"pip": text.Each(lines, func(line string) any { return line })}, name)
		return
	}
	if slices.ContainsFunc(e.Requirements, torch) || !slices.ContainsFunc(below.Requirements, torch) {
		e.Below, e.Places, e.Notes = below.Indexed(), below.Places, append(e.Notes, below.Notes...)
		return
	}
	names := text.Each(e.Requirements, func(q pep508.Requirement) string { return q.Text })
	e.Notes, e.Pip, e.Requirements = nil, true, nil
	e.join(below)
	if len(names) > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: torch stands below `pip:`, so that part is followed; conda's own packages are not: %s", name, text.Cut(strings.Join(names, ", "), 200)))
	}
}

// condaLimit is a version as conda writes it in the form of pip's, and its build: =2.5
// is ==2.5.*, a bare 2.5 or one with a build is ==2.5.
func condaLimit(limit string) (pip, build string) {
	if strings.ContainsAny(limit, "<>~,|") || strings.Contains(limit, "!=") { // of 1!164.3 the 1 is an epoch
		return comparisons(limit), ""
	}
	return condaVersion(limit)
}

func condaVersion(limit string) (pip, build string) {
	v, exact := strings.CutPrefix(limit, "==")
	v, fuzzy := strings.CutPrefix(v, "=")
	v = strings.TrimSpace(v)
	if at := strings.IndexAny(v, " ="); at >= 0 {
		v, build = v[:at], strings.Trim(v[at:], " =")
	}
	bare, star := strings.CutSuffix(v, "*")
	switch {
	case bare == "":
		return "", build
	case star || fuzzy && !exact && build == "":
		return "==" + strings.TrimSuffix(bare, ".") + ".*", build
	}
	return "==" + v, build
}

func comparisons(limit string) string {
	var out []string
	for clause := range strings.SplitSeq(strings.ReplaceAll(limit, " ", ""), ",") {
		switch {
		case strings.HasPrefix(clause, "=") && !strings.HasPrefix(clause, "=="):
			clause, _ = condaVersion(clause)
		case strings.HasPrefix(clause, "<"), strings.HasPrefix(clause, ">"): // conda drops the star there
			clause = strings.TrimSuffix(clause, ".*")
		}
		out = append(out, clause)
	}
	return strings.Join(out, ",")
}

// below reads a list such as that of `pip:`.
func (e *Environment) below(m map[string]any, file string) {
	for _, key := range sortedKeys(m) {
		names := text.Each(anyList(m[key]), str)
		e.Notes = append(e.Notes, fmt.Sprintf("%s: what stands below `%s:` comes after it, by %s itself in the new environment: %s",
			file, text.Cut(key, 20), text.Cut(key, 20), text.Cut(strings.Join(names, " "), 200)))
	}
}
