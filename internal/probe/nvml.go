package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"envfix/internal/machine"
	"envfix/internal/text"
	"envfix/internal/version"
)

// NVML's return codes that mean something to us (nvml.h).
const (
	nvmlSuccess         = 0
	nvmlNoPermission    = 4
	nvmlDriverNotLoaded = 9
	nvmlNoLibrary       = 12
	nvmlMismatch        = 18
)

// An nvmlReport is what the child that loads NVIDIA's library prints, in one
// line of JSON.
type nvmlReport struct {
	Return   int       `json:"return"` // of nvmlInit
	Error    string    `json:"error,omitempty"`
	Library  string    `json:"library,omitempty"` // what was loaded; "" the loader's choice
	Driver   string    `json:"driver,omitempty"`  // nvmlSystemGetDriverVersion
	NVML     string    `json:"nvml,omitempty"`    // nvmlSystemGetNVMLVersion: the library's own
	GPUs     []nvmlGPU `json:"gpus,omitempty"`
	Problems []string  `json:"problems,omitempty"` // calls that failed
	Lost     []int     `json:"lost,omitempty"`     // what getting the handle of a GPU returned, where it is listed and out of reach
}

// An nvmlGPU is a device that NVML lists; Slices are its MIG devices.
type nvmlGPU struct {
	Name      string    `json:"name"`
	Major     int       `json:"major,omitempty"`
	Minor     int       `json:"minor,omitempty"`
	UUID      string    `json:"uuid,omitempty"`
	PCIDevice uint32    `json:"pci_device,omitempty"` // device<<16 | vendor
	PCISub    uint32    `json:"pci_sub,omitempty"`    // subdevice<<16 | subvendor
	PCIBus    string    `json:"pci_bus,omitempty"`    // 00000000:3B:00.0
	Memory    uint64    `json:"memory,omitempty"`
	MIG       bool      `json:"mig,omitempty"` // MIG mode is on
	Slices    []nvmlGPU `json:"slices,omitempty"`
	Use       *nvmlUse  `json:"use,omitempty"` // only in the second line, and where it was asked for
}

// A capture keeps the first bytes that are written to it and swallows the rest,
// so that a child that talks without end costs no memory.
type capture struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := 1<<20 - c.kept.Len(); room > 0 {
		c.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.String()
}

// An answer is what a program said.
type answer struct {
	stdout, stderr string
	err            error
	late           bool // it was killed, or left behind, after the limit
}

// runLimited starts a program and returns soon after the limit whatever happens.
// A process that hangs in the kernel cannot be killed; it is left behind.
func runLimited(ctx context.Context, limit time.Duration, argv, env []string) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if len(argv) > 1 && argv[1] == childCommand {
		cmd.Args[0] = childName()
	}
	cmd.Env = env
	cmd.WaitDelay = grace
	var stdout, stderr capture
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	select {
	case err := <-done:
		return answer{stdout.String(), stderr.String(), err, ctx.Err() == context.DeadlineExceeded}
	case <-time.After(limit + 2*grace):
		return answer{stdout.String(), stderr.String(), ctx.Err(), true}
	}
}

// grace is what a killed program gets to go away.
const grace = 50 * time.Millisecond

// askNVML starts the child and reads its report. nil: it gave none, and a note
// says why; late: the library or the driver hangs.
func (h *host) askNVML(ctx context.Context, o Options, libraries []string) (r *nvmlReport, late bool) {
	argv := []string{o.Self, childCommand}
	if o.Use {
		argv = append(argv, useWord)
	}
	a := runLimited(ctx, o.limit(), append(argv, libraries...), childEnv(o.Env))
	// The stub library of a CUDA toolkit prints a warning before our lines. The
	// second line says what the first does and more.
	whole := 0
	for line := range strings.Lines(a.stdout) {
		var next nvmlReport
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &next) == nil {
			r = &next
			whole++
		}
	}
	switch {
	case a.late && r == nil:
		h.note("nvml: NVIDIA's library did not answer within %s: the driver hangs", o.limit())
		return nil, true
	case a.late:
		h.note("nvml: what uses the GPUs is unknown: NVIDIA's library did not answer within %s", o.limit())
	case o.Use && r != nil && r.Return == nvmlSuccess && whole < 2:
		h.note("nvml: what uses the GPUs is unknown: NVIDIA's library ended its process: %s", firstWords(a))
	}
	if r == nil {
		h.note("nvml: NVIDIA's library ended its process: %s", firstWords(a))
	}
	return r, false
}

// childEnv is the environment that the child gets. LD_PRELOAD is nobody's
// business there, and a toolkit's stub of the library must not win.
func childEnv(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		return strings.HasPrefix(pair, "LD_PRELOAD=") || strings.HasPrefix(pair, "LD_BIND_NOW=")
	})
	for i, pair := range out {
		if list, ok := strings.CutPrefix(pair, "LD_LIBRARY_PATH="); ok {
			dirs := slices.DeleteFunc(strings.Split(list, ":"), func(d string) bool { return d == "" || strings.Contains(d+"/", "/stubs/") })
			out[i] = "LD_LIBRARY_PATH=" + strings.Join(dirs, ":")
		}
	}
	return out
}

// firstWords says in a line how a program ended badly.
func firstWords(a answer) string {
	for line := range strings.Lines(a.stderr) {
		line = text.Printable(strings.TrimSpace(line))
		if line != "" {
			return fmt.Sprintf("%.200s", line)
		}
	}
	if a.err != nil {
		return text.Printable(a.err.Error())
	}
	return "no answer"
}

// nvmlOwnVersion turns NVML's own version into the driver's that it belongs to:
// since branch 410 it carries the CUDA major in front, 12.535.129.03.
func nvmlOwnVersion(s string) version.Dotted {
	v := dotted(s)
	if machine.PlausibleDriver(v) {
		return v
	}
	_, rest, _ := strings.Cut(s, ".")
	if v = dotted(rest); machine.PlausibleDriver(v) {
		return v
	}
	return version.Dotted{}
}

// words names NVML's error in a sentence for a note; "" for a success.
func (r *nvmlReport) words() string {
	switch r.Return {
	case nvmlSuccess:
		return ""
	case nvmlDriverNotLoaded:
		return "nvml: the NVIDIA kernel module is not loaded"
	case nvmlNoLibrary:
		return "nvml: library not found"
	case nvmlMismatch:
		return "nvml: NVIDIA's library and the loaded kernel module are of different versions"
	case nvmlNoPermission:
		return "nvml: no permission to talk to the driver"
	}
	return fmt.Sprintf("nvml: error %d: %s", r.Return, text.Printable(r.Error))
}
