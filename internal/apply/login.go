package apply

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/system"
)

// The files in which the installers, and git for them, find the logins that addresses of
// the plan's own requirements held. Both are the user's alone and end with the step.
const (
	netrcName     = tmpDir + "/netrc"
	gitConfigName = tmpDir + "/gitconfig"
)

// handOver writes the logins where env tells the installers to look, behind what the
// user's own files say. end removes the files. A plan that was saved holds none.
func (r *run) handOver(env map[string]string) (end func(), err error) {
	none := true
	for _, q := range r.plan.Basis.Request.Requirements {
		none = none && q.Login == nil
	}
	if none {
		return func() {}, nil
	}
	home, _ := os.UserHomeDir()
	own := cmp.Or(os.Getenv("NETRC"), filepath.Join(home, ".netrc"))
	b, err := system.ReadFile(own, 1<<20)
	if err != nil {
		b = nil // there is none, or the installers cannot read it either
	}
	netrc := strings.Builder{}
	netrc.WriteString(strings.TrimRight(string(b), "\n") + "\n")
	git := strings.Builder{}
	git.WriteString("[include]\n\tpath = ~/.config/git/config\n\tpath = ~/.gitconfig\n")
	for _, q := range r.plan.Basis.Request.Requirements {
		if q.Login == nil {
			continue
		}
		origin, user, password := q.Login.Secret()
		u, err := url.Parse(origin)
		if err != nil || strings.ContainsAny(user+password+origin, " \t\r\n\"\\") {
			return nil, &fail.Error{Code: fail.Failed, Text: "the login in an address of " + origin + " cannot be handed to the installer",
				Hints: []string{"put it into ~/.netrc, and take it out of the address"}}
		}
		fmt.Fprintf(&netrc, "machine %s\nlogin %s\npassword %s\n", u.Hostname(), user, password)
		fmt.Fprintf(&git, "[http \"%s/\"]\n\textraHeader = Authorization: Basic %s\n", origin, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	for name, text := range map[string]string{netrcName: netrc.String(), gitConfigName: git.String()} {
		if err := system.WriteIn(r.env.root, name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	env["NETRC"], env["GIT_CONFIG_GLOBAL"] = r.env.path(netrcName), r.env.path(gitConfigName)
	return func() {
		_ = r.env.drop(netrcName)
		_ = r.env.drop(gitConfigName)
	}, nil
}
