package apply

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"envfix/internal/fail"
	"envfix/internal/plan"
	"envfix/internal/system"
	"envfix/internal/text"
)

// proofProgram is what an environment's Python runs to prove itself.
//
//go:embed verify.py
var proofProgram string

// proofMark begins the line of its output that is the answer.
const proofMark = "envfix:"

// A Proof is what an environment's Python says about itself.
type Proof struct {
	Imports  map[string]string `json:"imports"`  // module → its version
	Errors   map[string]string `json:"errors"`   // what did not work → why
	Unproven map[string]string `json:"unproven"` // what came with a package that was added, and does not import → why
	Torch    string            `json:"torch"`    // with its label
	CUDA     string            `json:"cuda"`     // torch.version.cuda, "" none
	CuDNN    int               `json:"cudnn"`    // as cuDNN writes it: 91002 is 9.10.2; 0 none
	Arches   []string          `json:"arches"`   // torch._C._cuda_getArchFlags()
	GPUs     []GPUProof        `json:"gpus"`
	Others   map[string]int    `json:"frameworks"` // framework → GPUs that it computes on
	Path     string            `json:"path"`       // torch.__file__
	Mapped   []string          `json:"mapped"`     // files of CUDA's and torch's libraries that are loaded; nil off Linux
	Now      string            `json:"now"`        // what was tried when the answer was given; "": it is the last one
}

// A GPUProof compares what one GPU computes with the CPU's result.
type GPUProof struct {
	Device string `json:"device"` // cuda:0, xpu:0, mps
	Name   string `json:"name"`
	Error  string `json:"error"` // "" it computed
}

// Python returns the interpreter of the environment dir.
func Python(dir string) string {
	if runtime.GOOS == "windows" {
		if _, err := os.Stat(filepath.Join(dir, "conda-meta")); err == nil {
			return filepath.Join(dir, "python.exe")
		}
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}

// Argv is the command with which python proves that modules import and that
// every GPU computes; see [ReadProof].
func Argv(python string, modules []string) []string {
	return append([]string{python, "-I", "-c", proofProgram, "full"}, modules...)
}

// QuickArgv is Argv with the matrix product alone.
func QuickArgv(python string, modules []string) []string {
	return append([]string{python, "-I", "-c", proofProgram, "quick"}, modules...)
}

// ReadProof finds the answer in what the command printed.
func ReadProof(out string) (Proof, error) {
	lines := strings.Split(out, "\n")
	for _, line := range slices.Backward(lines) {
		if text, yes := strings.CutPrefix(line, proofMark); yes {
			var p Proof
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				return p, fmt.Errorf("the environment's Python gave no readable answer: %w", err)
			}
			if p.Now != "" {
				return p, fmt.Errorf("the environment's Python ended before it could answer, at %s", p.Now)
			}
			return p, nil
		}
	}
	return Proof{}, errors.New("the environment's Python ended before it could answer")
}

// Outlive has a proof run again without what ended its Python, and says what that was.
func Outlive(argv []string, run func(argv []string) (Proof, error)) (Proof, error) {
	for {
		proof, err := run(argv)
		exit, ended := errors.AsType[*system.ExitError](err)
		if !ended || proof.Now == "" {
			return proof, err
		}
		argv = append(argv, "!"+proof.Now+"="+exit.Error())
	}
}

// withoutGPU: what a framework for GPUs does where none is says nothing of those to come.
func (p *Proof) withoutGPU() {
	for what, why := range p.Errors {
		if strings.HasPrefix(what, "computing with ") && what != "computing with torch" {
			p.Unproven[what] = why
			delete(p.Errors, what)
		}
	}
}

// Compare says what of a proof is not what was wanted; nothing: it holds.
func Compare(want plan.Verify, got Proof) (out []string) {
	add := func(format string, args ...any) {
		out = append(out, text.Printable(fmt.Sprintf(format, args...)))
	}
	for _, name := range slices.Sorted(maps.Keys(got.Errors)) {
		add("%s: %s", name, got.Errors[name])
	}
	differ := func(what, want, got string) {
		if want != got {
			add("%s is %s, and the plan says %s", what, orNone(got), orNone(want))
		}
	}
	for _, name := range want.OnGPU {
		if n, ran := got.Others[name]; ran && n == 0 {
			add("%s %s computes on the CPU only: it finds no GPU", name, got.Imports[name])
		}
	}
	if got.Torch == "" {
		if len(out) == 0 && slices.Contains(want.Imports, "torch") {
			add("torch was not imported")
		}
		return out
	}
	if want.Torch != "" {
		differ("torch", want.Torch, comparable(got.Torch, want.Torch))
		differ("its CUDA", want.CUDA, got.CUDA)
	}
	if want.CuDNN != "" && got.Errors["cudnn"] == "" {
		parts := strings.Split(want.CuDNN, ".") // of 9.10.2.21 the fourth is not in the library's number
		differ("its cuDNN", strings.Join(parts[:min(3, len(parts))], "."), CuDNNVersion(got.CuDNN))
	}
	if len(want.Arches) > 0 && !slices.Equal(slices.Sorted(slices.Values(want.Arches)), slices.Sorted(slices.Values(got.Arches))) {
		differ("its code for GPUs", strings.Join(want.Arches, " "), strings.Join(got.Arches, " "))
	}
	for _, g := range got.GPUs {
		if g.Error != "" {
			add("%s (%s) does not compute: %s", g.Device, g.Name, g.Error)
		}
	}
	if computed := got.Computed(); computed < want.GPUs {
		add("%d of %d GPUs compute", computed, want.GPUs)
	}
	return out
}

// comparable drops the label of a version where the wanted one has none: wheels
// of conda and of some indexes carry none.
func comparable(got, want string) string {
	if public, _, _ := strings.Cut(got, "+"); !strings.Contains(want, "+") {
		return public
	}
	return got
}

// Words says what a proof shows and what it does not.
func (p Proof) Words() (shown, not []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Imports)) {
		shown = append(shown, text.Printable(strings.TrimSpace("import "+name+" "+p.Imports[name])))
	}
	if p.CUDA != "" {
		shown = append(shown, "CUDA "+p.CUDA)
	}
	if p.CuDNN != 0 {
		shown = append(shown, "cuDNN "+CuDNNVersion(p.CuDNN))
	}
	for _, g := range p.GPUs {
		if g.Error == "" {
			shown = append(shown, text.Printable(fmt.Sprintf("%s (%s) computes what the CPU does", g.Device, g.Name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Others)) {
		if n := p.Others[name]; n > 0 {
			shown = append(shown, text.Printable(fmt.Sprintf("%s computes on %d GPUs", name, n)))
		} else {
			not = append(not, text.Printable(name+" was tried on the CPU alone: it finds no GPU"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Unproven)) {
		not = append(not, text.Printable(name+": "+p.Unproven[name]))
	}
	switch {
	case p.Torch != "" && len(p.GPUs) == 0 && len(p.Arches) == 0:
		not = append(not, "nothing was computed on a GPU: this build has no code for one")
	case p.Torch != "" && len(p.GPUs) == 0:
		not = append(not, "nothing was computed on a GPU: none is usable here")
	}
	return shown, not
}

func orNone(s string) string { return cmp.Or(s, "none") }

// CuDNNVersion reads cuDNN's own number: 91002 is 9.10.2, and 8902 is 8.9.2; "" for 0
// (cudnn_version.h: major*10000 + minor*100 from 9 on, major*1000 before).
func CuDNNVersion(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= 90000:
		return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100)
	}
	return fmt.Sprintf("%d.%d.%d", n/1000, n/100%10, n%100)
}

// ofTheShell are the variables, beside Python's own, that change what torch loads and sees. The
// proof keeps them, because the user's jobs run with them; an isolated Python (-I) reads none of its own.
var ofTheShell = []string{"LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION"}

// mostAnswer is how much of a Python's output is kept, from its end: the answer is
// its last line.
const mostAnswer = 1 << 20

// Prove has the environment's Python say what it can do; argv is [apply.Argv]'s.
// When ctx ends first, it is given grace to end by itself (0: 5 s).
func Prove(ctx context.Context, c system.Command) (Proof, error) {
	env := map[string]string{"PYTHONNOUSERSITE": ""} // which system.Environment sets
	for _, pair := range os.Environ() {
		if name, v, _ := strings.Cut(pair, "="); slices.Contains(ofTheShell, name) || strings.HasPrefix(name, "PYTHON") {
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
