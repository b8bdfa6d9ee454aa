package machine

import (
	"fmt"
	"slices"

	"envfix/internal/say"
)

// An Origin is a place that gives a list variable an entry, or the dynamic loader a
// directory.
type Origin struct {
	Kind string `json:"kind"`           // see the Origin constants
	Name string `json:"name,omitempty"` // of the module, the environment, the unit
	File string `json:"file"`           // "~" is the home directory
	Line int    `json:"line,omitempty"` // from 1; 0: the file as a whole
}

// The values of Origin.Kind.
const (
	OriginProfile      = "profile"       // a file that a shell reads
	OriginEnvironment  = "environment"   // /etc/environment (pam_env)
	OriginEnvironmentD = "environment.d" // of systemd's user manager
	OriginModule       = "module"        // Environment Modules, Lmod
	OriginConda        = "conda"         // activate.d, or `conda env config vars`
	OriginVenv         = "venv"          // its activate script
	OriginSystemd      = "systemd"       // the unit that this process is part of
	OriginContainer    = "container"     // what the container was started with
	OriginLoader       = "ld.so.conf"
	OriginPython       = "python" // a file that Python runs when it starts, or of the project
	OriginKernel       = "kernel" // a kernel of Jupyter's
)

// Place is "file:line", or the file alone.
func (o Origin) Place() string {
	return say.Either(o.Line == 0, o.File, fmt.Sprintf("%s:%d", o.File, o.Line))
}

// String names the origin in words.
func (o Origin) String() string {
	what := map[string]string{OriginModule: "module", OriginConda: "conda environment", OriginVenv: "environment", OriginSystemd: "unit"}[o.Kind]
	switch {
	case what != "":
		return fmt.Sprintf("the %s %s (%s)", what, o.Name, o.Place())
	case o.Kind == OriginContainer:
		return "the variables that this container was started with"
	}
	return o.Place()
}

// ShellProfile reports whether a file is a profile in the user's home directory
// that a POSIX shell reads: one that a block of its language can be added to.
func ShellProfile(file string) bool {
	return slices.Contains([]string{"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile", "~/.zlogin"}, file)
}

// OneValue matches the variables of CUDA's and torch's that one value decides (RE2).
const OneValue = `CUDA_(?:VISIBLE_DEVICES|HOME|PATH|DEVICE_ORDER|LAUNCH_BLOCKING|MODULE_LOADING|FORCE_(?:PTX_)?JIT|DISABLE_PTX_JIT)|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|` +
	`HSA_OVERRIDE_GFX_VERSION|PYTORCH_(?:\w*ALLOC_CONF|NO_CUDA_MEMORY_CACHING)|PYTHON(?:HOME|PLATLIBDIR)|CC|CXX|CUDAHOSTCXX|TORCH_CUDA_ARCH_LIST|NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|` +
	`TORCH_(?:DISTRIBUTED_DEBUG|LOGS)|(?:NCCL|TRITON)_\w+`
