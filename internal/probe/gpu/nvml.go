package gpu

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"envfix/internal/machine"
	"envfix/internal/nvmlchild"
	"envfix/internal/probe/sysroot"
	"envfix/internal/text"
	"envfix/internal/version"
)

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

// runLimited starts a program, says so and returns soon after the limit whatever happens.
// A process that hangs in the kernel cannot be killed; it is left behind.
func runLimited(ctx context.Context, limit time.Duration, argv, env []string, started func()) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if len(argv) > 1 && argv[1] == nvmlchild.ReportCommand {
		cmd.Args[0] = childName()
	}
	cmd.Env = env
	cmd.WaitDelay = grace
	var stdout, stderr capture
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	done := make(chan error, 1)
	go func() {
		err := cmd.Start()
		if started(); err == nil {
			err = cmd.Wait()
		}
		done <- err
	}()
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
func askNVML(ctx context.Context, h *sysroot.Host, o Options, libraries []string) (r *nvmlchild.Report, late bool) {
	child, err := childProgram(o.Self)
	if err != nil {
		h.Note("nvml: %s; the kernel's files and nvidia-smi are read instead", err)
		return nil, false
	}
	defer child.close()
	argv := []string{child.path, nvmlchild.ReportCommand}
	if o.Use {
		argv = append(argv, nvmlchild.UseWord)
	}
	a := runLimited(ctx, o.limit(), append(argv, libraries...), childEnv(h.Vars), h.Started)
	// The stub library of a CUDA toolkit prints a warning before our lines. The
	// second line says what the first does and more.
	whole := 0
	for line := range strings.Lines(a.stdout) {
		var next nvmlchild.Report
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &next) == nil {
			r = &next
			whole++
		}
	}
	switch {
	case a.late && r == nil:
		h.Note("%s %s: the driver hangs", machine.NVMLHangs, o.limit())
		return nil, true
	case a.late:
		h.Note("nvml: what uses the GPUs is unknown: NVIDIA's library did not answer within %s", o.limit())
	case o.Use && r != nil && r.Return == nvmlchild.Success && whole < 2:
		h.Note("nvml: what uses the GPUs is unknown: NVIDIA's library ended its process: %s", firstWords(a))
	}
	if r == nil {
		h.Note("%s %s", machine.NVMLCrashes, firstWords(a))
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
	if v := plausible(s); !v.IsZero() {
		return v
	}
	_, rest, _ := strings.Cut(s, ".")
	return plausible(rest)
}

// childName is the name that the child is started under: the one that this
// process has, because a program may look at it to know what it is.
func childName() string { return filepath.Base(os.Args[0]) }

// A child is the program that is started to load NVIDIA's library. It is closed
// once it is started.
type child struct {
	path  string
	close func()
}
