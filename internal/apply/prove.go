package apply

import (
	"context"
	"errors"
	"os"

	"envfix/internal/fail"
	"envfix/internal/system"
)

// ofTheShell are the variables that change what torch loads and sees. The proof
// keeps them, because the user's jobs run with them.
var ofTheShell = []string{"LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION"}

// mostAnswer is how much of a Python's output is kept, from its end: the answer is
// its last line.
const mostAnswer = 1 << 20

// Prove has the environment's Python say what it can do; argv is [apply.Argv]'s.
// When ctx ends first, it is given grace to end by itself (0: 5 s).
func Prove(ctx context.Context, c system.Command) (Proof, error) {
	env := map[string]string{}
	for _, name := range ofTheShell {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	out := system.Tail{Most: mostAnswer}
	c.Env, c.Raw, c.Quiet = env, &out, true
	err := system.Run(ctx, c)
	if ctx.Err() != nil {
		return Proof{}, ctx.Err()
	}
	proof, bad := ReadProof(out.String())
	var exit *system.ExitError
	switch {
	case errors.As(err, &exit):
		return proof, &fail.Error{Code: fail.Verify, Text: "the environment's Python ended with an error: " + exit.Error(), Details: exit.Tail, Err: err,
			Hints: []string{"`envfix doctor` looks for the cause"}}
	case err != nil:
		return proof, fail.Wrap(fail.Failed, err)
	case bad != nil:
		return proof, &fail.Error{Code: fail.Verify, Text: bad.Error(), Details: out.Lines(12)}
	}
	return proof, nil
}
