package apply

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/plan"
	"envfix/internal/system"
)

// Program is what an environment's Python runs to prove itself: one line that
// begins with ProofMark, then JSON.
//
//go:embed verify.py
var program string

const proofMark = "envfix:"

// A Proof is what an environment's Python says about itself.
type Proof struct {
	Imports   map[string]string `json:"imports"` // modules that do not import, and why
	Torch     string            `json:"torch"`
	CUDA      *string           `json:"cuda"`
	CuDNN     *int              `json:"cudnn"`
	Arches    []string          `json:"arches"` // torch._C._cuda_getArchFlags()
	Available bool              `json:"available"`
	GPUs      []GPUProof        `json:"gpus"`
}

// A GPUProof is one GPU's product compared with the CPU's.
type GPUProof struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	Error string `json:"error"` // "" it computed
}

// Python returns the interpreter of the environment dir.
func Python(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}

// Argv is the command with which python proves that modules import and compute.
func Argv(python string, modules []string) []string {
	return append([]string{python, "-I", "-c", program}, modules...)
}

// ReadProof finds the proof in what the command printed.
func ReadProof(out string) (Proof, error) {
	for line := range strings.Lines(out) {
		if text, yes := strings.CutPrefix(strings.TrimSpace(line), proofMark); yes {
			var p Proof
			err := json.Unmarshal([]byte(text), &p)
			return p, err
		}
	}
	return Proof{}, errors.New("the interpreter ended before it could say anything")
}

// Compare says what of a proof is not what was wanted; nothing: it holds.
func Compare(want plan.Verify, got Proof) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(got.Imports)) {
		out = append(out, fmt.Sprintf("%s does not import: %s", name, system.Printable(got.Imports[name])))
	}
	differ := func(what, want, got string) {
		if want != "" && want != got {
			out = append(out, fmt.Sprintf("%s is %s, and the plan says %s", what, orNone(got), want))
		}
	}
	if got.Torch == "" && want.Torch == "" {
		return out
	}
	differ("torch", want.Torch, got.Torch)
	differ("its CUDA", want.CUDA, deref(got.CUDA))
	if want.CuDNN != "" {
		differ("its cuDNN", threeParts(want.CuDNN), cudnnVersion(got.CuDNN))
	}
	if len(want.Arches) > 0 && !sameSet(want.Arches, got.Arches) {
		differ("its code for GPUs", strings.Join(want.Arches, " "), strings.Join(got.Arches, " "))
	}
	computed := 0
	for _, g := range got.GPUs {
		if g.Error == "" {
			computed++
			continue
		}
		out = append(out, fmt.Sprintf("GPU %d does not compute: %s", g.Index, system.Printable(g.Error)))
	}
	if computed < want.GPUs {
		out = append(out, fmt.Sprintf("%d of %d GPUs compute", computed, want.GPUs))
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return system.Printable(s)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// threeParts cuts 9.10.2.21 to 9.10.2: the fourth is not in the library's number.
func threeParts(v string) string {
	parts := strings.Split(v, ".")
	return strings.Join(parts[:min(3, len(parts))], ".")
}

// cudnnVersion reads cuDNN's own number: 91002 is 9.10.2, and 8902 is 8.9.2
// (cudnn_version.h: major*10000 + minor*100 from 9 on, major*1000 before).
func cudnnVersion(n *int) string {
	switch {
	case n == nil:
		return ""
	case *n >= 90000:
		return fmt.Sprintf("%d.%d.%d", *n/10000, *n/100%100, *n%100)
	}
	return fmt.Sprintf("%d.%d.%d", *n/1000, *n/100%10, *n%100)
}

// verify has the new environment prove itself.
func (r *run) verify(ctx context.Context, i int, mid func() error) error {
	s := r.plan.Steps[i]
	var out strings.Builder
	quiet := r.Out
	r.Out = &out
	err := r.program(ctx, i, system.Command{Argv: Argv(Python(r.fill("{gen}")), s.Verify.Imports), Started: mid})
	r.Out = quiet
	var failed *Error
	if errors.As(err, &failed) && failed.Kind != Interrupted {
		failed.Kind = Verification
		return failed
	}
	if err != nil {
		return err
	}
	proof, err := ReadProof(out.String())
	if err != nil {
		return &Error{Kind: Verification, Text: s.Title + ": " + err.Error(), Details: strings.Split(strings.TrimSpace(out.String()), "\n")}
	}
	if wrong := Compare(*s.Verify, proof); len(wrong) > 0 {
		return &Error{Kind: Verification, Text: "the new environment does not prove itself", Details: wrong,
			Hints: []string{"nothing was switched; the environment is as it was before"}}
	}
	r.say("%s", proved(proof))
	return nil
}

// proved says in words what was shown, and what was not.
func proved(p Proof) string {
	s := "verified: torch " + p.Torch + " imports"
	if len(p.GPUs) == 0 {
		return s + "; no GPU is usable here, so nothing was computed on one"
	}
	return fmt.Sprintf("%s and computes on %d GPUs", s, len(p.GPUs))
}
