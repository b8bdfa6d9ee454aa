//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// provenInstalls are sets that no metadata keeps right, each with the lines that prove it: its
// own import and a computation on the CPU.
var provenInstalls = []struct{ name, python, wish, proof string }{
	{"NumPy's ABI", "3.11", "torch==2.1.* torchvision numpy",
		"import torch, torchvision, numpy; assert numpy.__version__ < '2'; assert torch.from_numpy(torch.ones(2).numpy()).sum() == 2; torchvision.transforms.Resize(4)(torch.ones(3, 8, 8))"},
	{"torchcodec's symbols", "3.12", "torch==2.6.* torchcodec",
		"import torch, importlib.metadata as m; assert m.version('torchcodec').startswith('0.2'); assert (torch.ones(2, 2) @ torch.ones(2, 2)).sum() == 8"},
	{"transformers' floor", "3.12", "torch==2.15.* transformers",
		"import torch, transformers; assert transformers.is_torch_available(); c = transformers.BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=9); " +
			"assert transformers.BertModel(c)(torch.ones(1, 3, dtype=torch.long)).last_hidden_state.shape == (1, 3, 8)"},
	{"jax alone", "3.12", "jax", "import jax; assert float(jax.numpy.ones(3).sum()) == 3; import importlib.util as u; assert u.find_spec('torch') is None"},
	{"tensorflow alone", "3.12", "tensorflow",
		"import tensorflow as tf; assert float(tf.reduce_sum(tf.ones(3))) == 3; import importlib.util as u; assert u.find_spec('torch') is None"},
}

// TestE2EInstalls has apply install each of them from the default index for a described
// H100, and proves it apart from apply's own proof.
func TestE2EInstalls(t *testing.T) {
	if os.Getenv("ENVFIX_E2E") != "all" {
		t.Skip("ENVFIX_E2E=all (make e2e-all): it installs gigabytes of frameworks")
	}
	envfix := build(t)
	for _, c := range provenInstalls {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			apply := exec.Command(envfix, append([]string{"apply", "--yes", "--gpu", "H100 80GB HBM3", "--driver", "580.95.05",
				"--only-index", "default", "--python", c.python}, strings.Fields(c.wish)...)...)
			apply.Dir = dir
			apply.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "UV_CACHE_DIR="+t.TempDir()) // what it fetched goes with it
			if out, err := apply.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			proof := exec.Command(filepath.Join(dir, ".venv", "bin", "python"), "-I", "-c", c.proof)
			proof.Env = append(os.Environ(), "JAX_PLATFORMS=cpu")
			if out, err := proof.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
