//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkFleetPlan prints what `envfix fleet plan -` costs for many machines as one
// process that reads their lines from a pipe: goal for 100,000 of 2,000 classes 1.5 s of
// processor time, for 1,000,000 5 s and 100 MB. Each line is 1 kB.
func BenchmarkFleetPlan(b *testing.B) {
	dir, err := program()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			for b.Loop() {
				r, w := io.Pipe()
				go func() { w.CloseWithError(writeFleet(w, n, 2000)) }()
				c := exec.Command(dir+"/envfix", "fleet", "plan", "-")
				c.Stdin = r
				out, err := c.Output()
				if err != nil || !strings.HasPrefix(string(out), fmt.Sprintf("%d machines of 2000 classes", n)) {
					b.Fatalf("%v: %.200s", err, out)
				}
				b.ReportMetric((c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), "cpu-s")
				b.ReportMetric(float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024, "peak-MB")
			}
		})
	}
}

// writeFleet writes the lines of n machines of some classes, drawn.
func writeFleet(w io.Writer, n, classes int) error {
	r := rand.New(rand.NewSource(5))
	gpus := [][2]string{{"Tesla P100-PCIE-16GB", "6.0"}, {"Tesla V100-SXM2-16GB", "7.0"}, {"Tesla T4", "7.5"}, {"NVIDIA A100-SXM4-40GB", "8.0"},
		{"NVIDIA H100 PCIe", "9.0"}, {"NVIDIA B200", "10.0"}, {"", ""}}
	drivers := []string{"470.82.01", "525.60.13", "535.183.01", "550.54.14", "570.124.06", "580.95.05", "590.44.01"}
	pad := strings.Repeat("x", 500) // as long as a line of a machine with eight GPUs
	var lines []string
	for i := range classes {
		g := gpus[r.Intn(len(gpus))]
		line := fleetLine("", g[0], g[1], drivers[r.Intn(len(drivers))], fmt.Sprint("3.", 9+r.Intn(6)))
		line = strings.Replace(line, `{"host":"",`, fmt.Sprintf(`"pad":"%s%d",`, pad, i), 1)
		line = strings.Replace(line, `"os":"linux"`, fmt.Sprintf(`"os":"linux","distro":"ubuntu","distro_version":"22.04.%d"`, i), 1)
		lines = append(lines, line)
	}
	out := bufio.NewWriterSize(w, 1<<20)
	for i := range n {
		if _, err := fmt.Fprintf(out, `{"host":"node%07d",%s`, i, lines[r.Intn(len(lines))]); err != nil {
			return err
		}
	}
	return out.Flush()
}
