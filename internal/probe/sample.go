package probe

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// sampleCommand is the hidden command of envfix whose process reads the GPUs
// again and again.
const sampleCommand = "__nvmlsample"

// A SampledGPU is the constant part of a device that is sampled. Memory is in
// MiB, Clock in MHz, PowerLimit in watts. Zero means not supported.
type SampledGPU struct {
	Index      int     `json:"index"`
	Name       string  `json:"name,omitempty"`
	UUID       string  `json:"uuid,omitempty"`
	Major      int     `json:"major,omitempty"`
	Minor      int     `json:"minor,omitempty"`
	Memory     int64   `json:"memory,omitempty"`
	Clock      int     `json:"clock,omitempty"`
	Cores      int     `json:"cores,omitempty"`
	PowerLimit float64 `json:"power_limit,omitempty"`
	MaxGen     int     `json:"max_gen,omitempty"`
	MaxWidth   int     `json:"max_width,omitempty"`
	MIG        bool    `json:"mig,omitempty"`
	Processes  bool    `json:"processes,omitempty"` // its process list can be read
}

// A Reading is one GPU at one moment. Utils are percent since the last reading,
// none where it is not supported; a negative Rx, SMBusy or Tensor is unknown.
type Reading struct {
	Utils   []float64  `json:"u,omitempty"`
	Used    int64      `json:"m,omitempty"` // MiB
	Clock   int        `json:"c,omitempty"` // MHz
	Temp    int        `json:"t,omitempty"` // °C
	Reasons uint64     `json:"r,omitempty"` // nvmlClocksEventReasons
	Power   float64    `json:"w,omitempty"` // watts; 0 unknown
	Gen     int        `json:"g,omitempty"`
	Width   int        `json:"x,omitempty"`
	Rx      float64    `json:"rx"` // MB/s towards the GPU
	SMBusy  float64    `json:"sm"` // percent
	Tensor  float64    `json:"te"`
	Procs   [][2]int64 `json:"p,omitempty"` // PID and MiB
	Lost    bool       `json:"lost,omitempty"`
}

// A SampleLine is a line of the child: GPUs in the first, readings in the rest,
// in the order of the first.
type SampleLine struct {
	GPUs     []SampledGPU `json:"gpus,omitempty"`
	Readings []Reading    `json:"readings,omitempty"`
	Error    string       `json:"error,omitempty"` // why there are none
}

// A Sampler is the child process that reads the GPUs.
type Sampler struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	Lines <-chan SampleLine // closed when the child ends
}

// StartSampling starts the child, which samples until it is stopped or this
// process ends. nil, with the reason: this build or this machine cannot.
func StartSampling(self string, every time.Duration, env []string) (*Sampler, string) {
	if !HasNVML {
		return nil, "this build of envfix cannot load NVIDIA's library"
	}
	libraries := []string{""}
	if _, err := os.Stat(wslLibraries + "/libnvidia-ml.so.1"); err == nil {
		libraries = []string{wslLibraries + "/libnvidia-ml.so.1", ""}
	}
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, "ENVFIX_NVML="); ok && v == "off" {
			return nil, "ENVFIX_NVML=off"
		} else if ok && v != "" {
			libraries = []string{v}
		}
	}
	cmd := exec.Command(self, append([]string{sampleCommand, every.String()}, libraries...)...)
	cmd.Args[0] = childName()
	cmd.Env = append(slices.DeleteFunc(childEnv(env), func(pair string) bool {
		return strings.HasPrefix(pair, "GOMAXPROCS=") || strings.HasPrefix(pair, "GOGC=")
	}), "GOMAXPROCS=1", "GOGC=50")
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err.Error()
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err.Error()
	}
	if err := cmd.Start(); err != nil {
		return nil, err.Error()
	}
	lines := make(chan SampleLine, 16)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(stdout)
		scan.Buffer(make([]byte, 0, 16<<10), 1<<20)
		for scan.Scan() {
			var l SampleLine
			// The stub library of a CUDA toolkit prints a warning of its own.
			if b := scan.Bytes(); len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &l) == nil {
				lines <- l
			}
		}
	}()
	return &Sampler{cmd, stdin, lines}, ""
}

// Stop ends the child. A child that hangs in the driver is killed; one that
// cannot even be killed is left behind.
func (s *Sampler) Stop() {
	s.stdin.Close()
	s.cmd.Process.Kill()
	go func() {
		for range s.Lines { // frees the reader
		}
		s.cmd.Wait()
	}()
}
