package probe

import (
	"time"

	"envfix/internal/nvmlchild"
	"envfix/internal/probe/gpu"
)

// What callers name of GPUs: the device table's rows, and the child's words.
type (
	PCI        = gpu.PCI
	Device     = gpu.Device
	Sampler    = gpu.Sampler
	SampledGPU = nvmlchild.SampledGPU
	Reading    = nvmlchild.Reading
	SampleLine = nvmlchild.SampleLine
)

// HasNVML says whether this build can load NVIDIA's library here.
func HasNVML() bool { return gpu.HasNVML() }

// StartSampling is [gpu.StartSampling].
func StartSampling(self string, every time.Duration, env []string) (*Sampler, string) {
	return gpu.StartSampling(self, every, env)
}
