package team

import (
	"errors"
	"strings"
	"testing"

	"envfix/internal/fail"
	"envfix/internal/lock"
	"envfix/internal/machine"
)

// Who locked for a GPU that is not here is told how to ask for the machine that has it.
func TestPickSaysAnotherMachine(t *testing.T) {
	l := &lock.Lock{Profiles: []lock.Profile{{Name: "h100", Match: lock.Match{OS: "linux", Arch: "x86_64", GPU: "nvidia", Driver: ">=525"}}}}
	for gpus, want := range map[string]bool{`[]`: true, `[{"name":"NVIDIA A100","vendor":"nvidia","sm":"8.0"}]`: true, `[{"name":"Radeon","vendor":"amd"}]`: false} {
		h, err := machine.Decode([]byte(`{"format":1,"platform":{"os":"linux","arch":"x86_64"},"driver":null,"pythons":[],"gpus":` + gpus + `}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range []string{"", "h100"} {
			var bad *fail.Error
			if _, _, err = pick(l, h, Following{Profile: profile}); !errors.As(err, &bad) || bad.Code != fail.NoSolution {
				t.Fatalf("%s: %v", gpus, err)
			}
			if got := strings.Contains(strings.Join(bad.Hints, "\n"), "`--gpu GPU --driver VERSION`"); got != want {
				t.Errorf("%s: %q", gpus, bad.Hints)
			}
		}
	}
}
