// Package testenv frees tests from what the shell that starts them exports.
package testenv

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// others are the beginnings of the names of variables that change what envfix, or a
// program that a test starts, says or does: installers, Pythons, GPUs, the loader, the
// terminal, the language, proxies, git (which exports GIT_DIR to its hooks), and the
// places that envfix is in.
var others = []string{
	"UV_", "PIP_", "PIPX_", "PYTHON", "VIRTUAL_ENV", "CONDA", "MAMBA_", "PIXI_", "POETRY_",
	"CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROCR_", "TORCH", "PYTORCH_", "TRITON_", "NCCL_", "LD_", "XDG_",
	"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES", "LC_", "LANGUAGE", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "GIT_", "SOURCE_DATE_EPOCH",
	"CI", "GITHUB_", "GITLAB_", "SLURM_", "KUBERNETES_", "JUPYTER_", "WSL_", "SUDO_", "SSH_", "BROWSER", "EDITOR", "PAGER",
}

// Callers is the environment as it was: for what a test fetches from the network.
var Callers = os.Environ()

// Clean takes the others out of this process's environment. TestMain calls it before
// the tests run. Those that use the network as their caller set it up keep it all:
// they are run by their names.
func Clean() {
	network := regexp.MustCompile("E2E|TestRelease|Benchmark")
	if slices.ContainsFunc(os.Args, network.MatchString) {
		return
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(strings.ToUpper(name), o) }) {
			os.Unsetenv(name)
		}
	}
	os.Setenv("LANG", "C.UTF-8")
	os.Setenv("ENVFIX_QUICK", "1") // uv is asked of an index that the test serves
}
