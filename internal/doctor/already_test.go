package doctor

import (
	"strings"
	"testing"

	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/machine"
)

// What is so already is no advice.
func TestAlready(t *testing.T) {
	e := newExam(know.Embedded(), &read.Case{Machine: machine.Machine{Env: map[string]string{
		"NCCL_P2P_DISABLE": "1", "PYTORCH_ALLOC_CONF": "expandable_segments:True", "LD_LIBRARY_PATH": "/x",
	}}, Environment: read.Environment{Packages: []read.Package{{Name: "torchvision", Version: "0.21.0+cu124"}}}})
	for _, c := range []struct{ way, want string }{
		{"`export NCCL_P2P_DISABLE=1`", ""},
		{"`export NCCL_P2P_DISABLE=0`", "`export NCCL_P2P_DISABLE=0`"},
		{"`unset CUDA_HOME`", ""},
		{"`unset LD_LIBRARY_PATH`", "`unset LD_LIBRARY_PATH`"},
		{"`pip install torchvision==0.21.0`", ""},
		{"`pip install torchvision==0.22.0`", "`pip install torchvision==0.22.0`"},
		{"a smaller batch, bf16, or `export PYTORCH_ALLOC_CONF=expandable_segments:True` (PYTORCH_CUDA_ALLOC_CONF before torch 2.9)", "a smaller batch, bf16"},
	} {
		if got := e.already(c.way); got != c.want {
			t.Errorf("%s: %q, want %q", c.way, got, c.want)
		}
	}
}

// In a paste that sets the allocator, the advice does not name it again.
func TestAlreadyPasted(t *testing.T) {
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
	for text, want := range map[string]bool{oom: true, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + oom: false} {
		r, _ := examine(t, text)
		got := false
		for _, f := range r.Findings {
			got = got || strings.Contains(strings.Join(f.Fix, "\n"), "expandable_segments")
		}
		if got != want {
			t.Errorf("%q: the allocator is named %v", text, got)
		}
	}
}
