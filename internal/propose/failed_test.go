package propose

import (
	"errors"
	"testing"

	"envfix/internal/system"
	"envfix/internal/team"
)

// Why uv gave no answer is its error, not the warnings before it; what is known of its words,
// in ours; where it said nothing, why it could not be asked.
func TestFailed(t *testing.T) {
	const warning = "warning: The requested Python version 3.12 is not available\n"
	for said, want := range map[string]string{
		warning + "error: Failed to parse `x`\n":                                             "uv: Failed to parse `x`",
		warning + "error: Failed to fetch\n  cause: invalid peer certificate: UnknownIssuer": "uv: nobody that is trusted here vouches for the server's certificate",
		"": "uv: permission denied",
	} {
		r := &team.UVRun{Errs: system.Tail{Most: 1 << 10}}
		_, _ = r.Errs.Write([]byte(said))
		if got := failed(r, errors.New("permission denied")).Error(); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}
