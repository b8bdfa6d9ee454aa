package team

import (
	"errors"
	"strings"
	"testing"
)

// What uv could not resolve is told in the words that `envfix apply` has for it.
func TestUnresolvedFault(t *testing.T) {
	f := unresolved([]string{"error: Failed to fetch: https://mirror.example/simple/einops/", "  cause: invalid peer certificate: UnknownIssuer"}, errors.New("exit status 2"))
	if !strings.Contains(f.Text, "nobody that is trusted here vouches for the server's certificate") || !strings.Contains(strings.Join(f.Hints, " "), "SSL_CERT_FILE") {
		t.Errorf("%s %q", f.Text, f.Hints)
	}
	if f := unresolved([]string{"error: something else"}, errors.New("exit status 2")); f.Text != "uv could not resolve the packages" || len(f.Hints) != 1 {
		t.Errorf("%s %q", f.Text, f.Hints)
	}
}
