// Package build is the room of what torch was built for: CUDA, another vendor's GPU, or the processor alone.
package build

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY001", "PY016", "PY025", "IDX003", "ARC014"}, Needs: "torch's build", Find: cpuBuild},
	{Checks: []string{"PY017"}, Needs: "NVIDIA's GPU, and a build for ROCm", Find: rocmOnNVIDIA},
	{Checks: []string{"PY017", "HW001", "ROC002"}, Needs: "AMD's GPU, and a build for CUDA", Find: cudaOnAMD},
	{Checks: []string{"PY017", "HW001", "XPU003"}, Needs: "Intel's GPU, and a build for CUDA", Find: cudaOnIntel},
	{Checks: []string{"HW001"}, Needs: "Apple's GPU, and a program that asks for CUDA", Find: cudaOnApple},
	{Checks: []string{"ROC001"}, Needs: "AMD's GPU, and the targets of its build", Find: rocmTarget},
	{Checks: []string{"PY001"}, Needs: "xformers' warning", Find: xformersCPU},
	{Checks: []string{"PY025"}, Needs: "conda, and somebody's words that a CPU build came", Find: condaWords},
	{Checks: []string{"ROC002"}, Needs: "torch that computes on an AMD GPU", Find: workingROCm},
}
