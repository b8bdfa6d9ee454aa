package lock

import (
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

// TeamKeys are the keys of envfix.toml and of [tool.envfix].
var TeamKeys = []string{"requirements", "files", "constraints", "build", "as-named", "same-torch", "defaults", "groups", "[targets]", "[[index]]", "[policy]"}

// TeamFile describes a team in its project.
const TeamFile = "envfix.toml"

// A Team is the content of envfix.toml: what to install and on which kinds of
// machine.
type Team struct {
	Requirements []string          `toml:"requirements"`
	Files        []string          `toml:"files"` // requirements files and pyproject.toml, relative
	SameTorch    bool              `toml:"same-torch"`
	Constraints  []string          `toml:"constraints"` // limits of packages that others ask for
	Build        []string          `toml:"build"`       // packages that may be built from source: their code runs
	AsNamed      []string          `toml:"as-named"`    // packages that are meant as they are written, though like a known one
	Defaults     string            `toml:"defaults"`    // facts of every target that does not say otherwise
	Groups       []string          `toml:"groups"`      // groups and extras of pyproject.toml, installed where they are chosen
	Indexes      []Tied            `toml:"index"`       // private indexes and the packages that come from there
	Targets      map[string]string `toml:"targets"`     // name → "gpu=V100 driver=580 os=linux"
	Policy       *Policy           `toml:"policy"`      // what the team admits, whatever is asked for
}

// A Policy is what a team admits. Its fields are those of the resolver's.
type Policy struct {
	Driver  int      `toml:"least-driver,omitempty"` // branch of the NVIDIA driver: 570
	CUDA    []string `toml:"cuda,omitempty"`         // "12.6", or "12" for any 12.x
	Indexes []string `toml:"indexes,omitempty"`      // default, pytorch, conda-forge or a URL
	Mirrors []string `toml:"mirrors,omitempty"`      // FROM=TO
	Never   []string `toml:"never,omitempty"`        // packages that are never installed
}

// PolicyIn reads the policy alone of an envfix.toml, or of the [tool.envfix] of a
// pyproject.toml; nil: there is none. Other keys are not judged.
func PolicyIn(b []byte, name string) (*Policy, error) {
	var whole map[string]any
	err := unmarshal(b, &whole)
	switch {
	case err != nil && name == TeamFile:
		return nil, fmt.Errorf("%s: %w", name, describe(err))
	case err != nil:
		return nil, nil // what is wrong with the file is said by its own reader
	case name != TeamFile:
		tool, _ := whole["tool"].(map[string]any)
		whole, _ = tool["envfix"].(map[string]any)
	}
	if whole["policy"] == nil {
		return nil, nil
	}
	inner, err := toml.Marshal(whole["policy"])
	if err != nil {
		return nil, fmt.Errorf("%s: [policy]: %w", name, err)
	}
	p := &Policy{}
	if err := decodeStrict(inner, p); err != nil {
		return nil, fmt.Errorf("%s: [policy]: %w", name, err)
	}
	return p, nil
}

// DecodeProject reads the [tool.envfix] of a pyproject.toml; ok is false where it has
// none. Beside what it says, the project's own dependencies are wished for.
func DecodeProject(b []byte) (t Team, ok bool, err error) {
	var d struct {
		Tool map[string]any `toml:"tool"`
	}
	if unmarshal(b, &d) != nil || d.Tool["envfix"] == nil {
		return t, false, nil // what is wrong with the file is said by its own reader
	}
	inner, err := toml.Marshal(d.Tool["envfix"])
	if err == nil {
		err = decodeStrict(inner, &t)
	}
	if err != nil {
		return t, true, fmt.Errorf("pyproject.toml: [tool.envfix]: %w", err)
	}
	if len(t.Files) == 0 {
		t.Files = []string{"pyproject.toml"}
	}
	return t, true, nil
}

// DecodeTeam reads an envfix.toml. It refuses unknown keys.
func DecodeTeam(b []byte) (Team, error) {
	var t Team
	if err := readable(TeamFile, b); err != nil {
		return t, err
	}
	if err := decodeStrict(b, &t); err != nil {
		return t, fmt.Errorf("%s: %w", TeamFile, err)
	}
	return t, nil
}
