package lock

import "fmt"

// TeamFile describes a team in its project.
const TeamFile = "envfix.toml"

// A Team is the content of envfix.toml: what to install and on which kinds of
// machine.
type Team struct {
	Requirements []string          `toml:"requirements"`
	Files        []string          `toml:"files"` // requirements files and pyproject.toml, relative
	SameTorch    bool              `toml:"same-torch"`
	Targets      map[string]string `toml:"targets"` // name → "gpu=V100 driver=580 os=linux"
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
