package system

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// quiet are settings that a repository's own configuration cannot take back, so that
// nothing it names is run: no transport, no monitor, no hook, no signature's program.
var quiet = []string{"--no-pager", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "-c", "core.sshCommand=false",
	"-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "-c", "core.askPass=", "-c", "credential.helper="}

// Git is a command of git for a directory, by its real path: the system's, or where that
// has none another of PATH that is named absolutely.
func Git(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	path, err := lookup("git")
	if err != nil {
		path, err = OnPath("git")
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, slices.Concat([]string{"-C", dir}, quiet, args)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat")
	return cmd, nil
}
