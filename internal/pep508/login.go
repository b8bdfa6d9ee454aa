package pep508

import (
	"net/url"
	"strings"
)

// A Login is what an address held of a user and a password. It is kept in memory, for the
// installer, and shows itself to nobody: its fields have no names outside.
type Login struct{ origin, user, password string }

func (*Login) String() string { return "***" }

// GoString is String.
func (*Login) GoString() string { return "***" }

// Secret returns what the installer is handed: the origin that the login is for, such as
// https://git.example:8443, the user, who may be a token, and the password, which may be "".
func (l *Login) Secret() (origin, user, password string) { return l.origin, l.user, l.password }

// cutLogin takes the login out of an http or https address; a git repository's may begin
// with git+. The user of an address of ssh is no secret.
func cutLogin(address string) (string, *Login) {
	scheme, rest, _ := strings.Cut(address, "://")
	transport := scheme[strings.LastIndex(scheme, "+")+1:]
	end := strings.IndexAny(rest+"/", "/?#")
	at := strings.LastIndex(rest[:min(end, len(rest))], "@")
	if at < 0 || !strings.EqualFold(transport, "https") && !strings.EqualFold(transport, "http") {
		return address, nil
	}
	user, password, _ := strings.Cut(rest[:at], ":")
	host := rest[at+1 : end]
	return scheme + "://" + rest[at+1:], &Login{strings.ToLower(transport) + "://" + host, plain(user), plain(password)}
}

// plain undoes the %-signs of an address.
func plain(s string) string {
	if p, err := url.PathUnescape(s); err == nil {
		return p
	}
	return s
}
