package team

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"envfix/internal/lock"
	"envfix/internal/reach"
	"envfix/internal/say"
	"envfix/internal/system"
)

// uvVariable is the beginning of uv's variables for the credentials of an index:
// UV_INDEX_<NAME>_USERNAME, its name in capitals with _ for what is neither a letter
// nor a digit (uv's documentation, "Providing credentials directly").
func uvVariable(name string) string {
	return "UV_INDEX_" + strings.ToUpper(lock.Plain(name, '_'))
}

// credentials find the user and password of a request where uv finds them: in its
// variables for an index, in the address of the default index that the environment
// names, in the netrc file, in a keyring. They are kept in memory alone.
type credentials struct {
	indexes []lock.Tied
	index   string        // the default index with what its address holds
	named   reach.Allowed // by the data and the user: what netrc's default entry is for
	netrc   []netrcEntry
}

func newCredentials(indexes []lock.Tied, index string, named reach.Allowed) *credentials {
	path := os.Getenv("NETRC")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".netrc")
	}
	c := &credentials{indexes: indexes, index: index, named: named}
	if b, err := system.ReadFile(path, 1<<20); err == nil {
		c.netrc = readNetrc(string(b))
	}
	return c
}

// login adds what is known for the request's host.
func (c *credentials) login(ctx context.Context, req *http.Request) {
	if c == nil {
		return
	}
	if user, password, ok := c.find(ctx, req.URL); ok {
		req.SetBasicAuth(user, password)
	}
}

func (c *credentials) find(ctx context.Context, u *url.URL) (user, password string, ok bool) {
	for _, i := range c.indexes {
		if _, ok := serves(i.URL, u); !ok {
			continue
		}
		user, password = os.Getenv(uvVariable(i.Name)+"_USERNAME"), os.Getenv(uvVariable(i.Name)+"_PASSWORD")
		if password == "" && user != "" && os.Getenv("UV_KEYRING_PROVIDER") == "subprocess" {
			password = keyring(ctx, i.URL, user)
		}
		if user != "" || password != "" {
			return user, password, true
		}
	}
	if at, ok := serves(c.index, u); ok && at.User != nil {
		password, _ = at.User.Password()
		return at.User.Username(), password, true
	}
	for _, e := range c.netrc {
		if e.machine == u.Hostname() || e.machine == "" && c.named.File(u.String()) {
			return e.login, e.password, true
		}
	}
	return "", "", false
}

// serves reads an index's address and tells whether the host that is asked is its own.
func serves(index string, asked *url.URL) (*url.URL, bool) {
	at, err := url.Parse(index)
	return at, err == nil && at.Host == asked.Host && at.Scheme == asked.Scheme
}

// keyring asks the keyring program for a password, as uv and pip do.
func keyring(ctx context.Context, service, user string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "keyring", "get", service, user).Output()
	return say.If(err == nil, strings.TrimRight(string(out), "\r\n"))
}

// A netrcEntry is one machine of a netrc file; machine "" is its default.
type netrcEntry struct{ machine, login, password string }

// readNetrc reads what curl and uv read of a netrc file; macros are left out.
func readNetrc(text string) []netrcEntry {
	var out []netrcEntry
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(" "+line, " #")
		words := strings.Fields(line)
		for i := 0; i < len(words); i++ {
			if words[i] == "default" {
				out = append(out, netrcEntry{})
				continue
			}
			if i+1 == len(words) {
				break
			}
			switch value := words[i+1]; {
			case words[i] == "machine":
				out = append(out, netrcEntry{machine: value})
			case len(out) == 0:
				continue
			case words[i] == "login":
				out[len(out)-1].login = value
			case words[i] == "password":
				out[len(out)-1].password = value
			}
			i++
		}
	}
	return out
}

// passes reports whether a variable of uv's credentials reaches uv.
func passes(name string) bool {
	return name == "NETRC" || name == "UV_KEYRING_PROVIDER" ||
		strings.HasPrefix(name, "UV_INDEX_") && (strings.HasSuffix(name, "_USERNAME") || strings.HasSuffix(name, "_PASSWORD"))
}
