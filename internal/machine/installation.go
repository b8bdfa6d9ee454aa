package machine

// An Installation is what the files of an installed distribution tell of how it came
// there. A zero field is unknown.
type Installation struct {
	By       string   `json:"by,omitempty"`           // pip, uv, conda, poetry …: INSTALLER
	At       string   `json:"at,omitempty"`           // when its metadata was written: 2026-05-02T14:30:00Z
	From     string   `json:"from,omitempty"`         // a URL or a directory: direct_url.json
	Asked    bool     `json:"requested"`              // somebody asked for it by name: REQUESTED
	With     []string `json:"with,omitempty"`         // what was asked for in the same run and requires it
	Replaced bool     `json:"replaced"`               // an earlier one was there
	Why      string   `json:"replaced_why,omitempty"` // what shows that
}

// A PythonPlace is a Python with packages of its own: an environment, or an interpreter
// that belongs to none.
type PythonPlace struct {
	Dir     string // of the environment; of an interpreter its prefix
	Kind    string // venv, conda, or the source of the interpreter: system, pyenv, uv …
	Python  string // the interpreter's path; "" it is gone
	Version string // of the Python; "" unknown
}
