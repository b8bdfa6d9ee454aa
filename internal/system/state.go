package system

import (
	"os"
	"os/user"
	"path/filepath"
)

// HomeDir is the user's home; "" there is none.
func HomeDir() string {
	home, _ := os.UserHomeDir()
	return home
}

// StateDir is envfix's directory of state: below XDG_STATE_HOME, or ~/.local/state.
// Programs in it are run, so without HOME it is the home of the user database, and
// never one below /tmp.
func StateDir() string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "/" // root's to write, where nobody knows who we are
			if u, err := user.Current(); err == nil {
				home = u.HomeDir
			}
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "envfix")
}

// ToolsDir is where envfix keeps tools of its own, such as uv.
func ToolsDir() string { return filepath.Join(StateDir(), "tools") }
