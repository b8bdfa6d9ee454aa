package gpu

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"envfix/internal/nvmlchild"
	"envfix/internal/text"
)

// A Sampler is the child process that reads the GPUs.
type Sampler struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	Lines <-chan nvmlchild.SampleLine // closed when the child ends
}

// StartSampling starts the child, which samples until it is stopped or this
// process ends. nil, with the reason: this build or this machine cannot.
func StartSampling(self string, every time.Duration, env []string) (*Sampler, string) {
	libraries := []string{""}
	if _, err := os.Stat(wslLibraries + "/libnvidia-ml.so.1"); err == nil {
		libraries = []string{wslLibraries + "/libnvidia-ml.so.1", ""}
	}
	switch v := valueOf(env, "ENVFIX_NVML"); v {
	case "":
	case "off":
		return nil, "ENVFIX_NVML=off"
	default:
		libraries = []string{v}
	}
	child, err := childProgram(self)
	if err != nil {
		return nil, err.Error()
	}
	defer child.close() // the process holds what it was started from
	cmd := exec.Command(child.path, append([]string{nvmlchild.SampleCommand, every.String()}, libraries...)...)
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
	lines := make(chan nvmlchild.SampleLine, 16)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(stdout)
		scan.Buffer(make([]byte, 0, 16<<10), 1<<20)
		for scan.Scan() {
			var l nvmlchild.SampleLine
			// The stub library of a CUDA toolkit prints a warning of its own.
			if b := scan.Bytes(); len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &l) == nil {
				l.Error = text.Printable(l.Error)
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

// valueOf is the value of a variable of an environment; "" it is not set.
func valueOf(env []string, name string) (value string) {
	for _, pair := range env {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}
