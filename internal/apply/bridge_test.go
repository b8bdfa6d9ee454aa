package apply

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"envfix/internal/system"
)

// Stand-ins for torch and NumPy: as they are where both were built for one ABI, and
// as torch behaves that was compiled against NumPy 1 beside NumPy 2.
const (
	standinTorch = `
import types, sys, importlib.util
def module(name, **members):
    m = types.ModuleType(name); m.__spec__ = importlib.util.spec_from_loader(name, None)
    m.__dict__.update(members); sys.modules[name] = m; return m
class Tensor:
    def __init__(self, values): self.values = values
    def numpy(self): return to_numpy(self)
    def sum(self): return Tensor([sum(self.values)])
    def item(self): return self.values[0]
off = types.SimpleNamespace(is_available=lambda: False)
module("torch", __version__="2.1.2+cpu", version=types.SimpleNamespace(cuda=None), ones=lambda n: Tensor([1.0] * n), from_numpy=lambda a: Tensor(list(a)),
       cuda=off, backends=types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: None)), _C=types.SimpleNamespace(_cuda_getArchFlags=lambda: ""))
`
	sameABI  = standinTorch + `module("numpy", __version__="1.26.4")` + "\ndef to_numpy(t): return t.values\n"
	otherABI = standinTorch + `module("numpy", __version__="2.2.6")` + "\ndef to_numpy(t): raise RuntimeError('Numpy is not available')\n"
	noNumPy  = standinTorch + "sys.modules['numpy'] = None\n"
)

// A torch that imports and cannot hand a value to NumPy does not prove itself.
func TestProofCrossesToNumPy(t *testing.T) {
	for name, test := range map[string]struct{ modules, version, wrong string }{
		"one ABI":      {sameABI, "1.26.4", ""},
		"another ABI":  {otherABI, "2.2.6", "torch beside numpy 2.2.6: RuntimeError: Numpy is not available"},
		"without it":   {noNumPy, "", ""},
		"other values": {sameABI + "sys.modules['torch'].from_numpy = lambda a: Tensor([7.0])\n", "1.26.4", "torch beside numpy 1.26.4: ValueError: other values came back"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "python3", "-I", "-c", test.modules+proofProgram, "quick", "torch")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			p, err := ReadProof(string(out))
			if err != nil {
				t.Fatal(err)
			}
			var wrong []string
			for what, why := range p.Errors {
				wrong = append(wrong, what+": "+why)
			}
			if got := strings.Join(wrong, "\n"); got != test.wrong || p.Imports["numpy"] != test.version {
				t.Errorf("errors %q, imports %v", got, p.Imports)
			}
		})
	}
}

// What ends Python is one module's failure, with its name: the rest is proven without it.
func TestProofOutlivesWhatEndsPython(t *testing.T) {
	const ends = sameABI + `
import os, signal
def die(*_): os.kill(os.getpid(), signal.SIGSEGV)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torchaudio": die()
sys.meta_path.insert(0, Finder())
sys.modules["torchvision"] = None
module("jax", __version__="0.12.0", devices=die)
`
	runs := 0
	p, err := Outlive([]string{"python3", "-I", "-c", ends + proofProgram, "quick", "torch", "torchaudio", "jax"}, func(argv []string) (Proof, error) {
		runs++
		return Prove(t.Context(), system.Command{Argv: argv})
	})
	if err != nil {
		t.Fatal(err)
	}
	const why = "python3 was ended by segmentation fault"
	if got, want := fmt.Sprint(p.Errors), fmt.Sprint(map[string]string{"computing with jax": why, "torchaudio": why}); got != want || p.Torch == "" || p.Now != "" || runs != 3 {
		t.Errorf("%s, torch %q, %d runs", got, p.Torch, runs)
	}
	p, err = Outlive([]string{"python3", "-I", "-c", ends + "sys.modules['torchaudio'] = None; sys.modules['torch'].cuda.is_available = die\n" + proofProgram, "quick", "torch"}, func(argv []string) (Proof, error) {
		return Prove(t.Context(), system.Command{Argv: argv})
	})
	if got := fmt.Sprint(p.Errors); err != nil || got != fmt.Sprint(map[string]string{"computing with torch": why}) {
		t.Errorf("%s, %v", got, err)
	}
}
