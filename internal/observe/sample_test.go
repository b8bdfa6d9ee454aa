package observe

import (
	"strings"
	"testing"

	"envfix/internal/nvmlchild"
	"envfix/internal/observe/verdict"
)

// A shape makes a trace: one sample for each 200 ms and GPU, of a job without a probe.
type shape struct {
	gpus                   int
	util                   func(i, gpu int) int
	used, clock, power     int
	temp                   int
	reasons                uint64
	gen, width             int
	usedOther, maxGen, end int
}

func (s shape) trace() *verdict.Trace {
	t := &verdict.Trace{Format: verdict.Format, Processes: []verdict.Process{}}
	for g := range max(s.gpus, 1) {
		t.GPUs = append(t.GPUs, verdict.GPU{Index: g, Memory: 81920, Clock: 1980, Link: "Gen5 x16"})
	}
	for i := range max(s.end, 100) {
		f := verdict.Frame{At: float64(i) / 5, Span: 0.2}
		for g := range t.GPUs {
			one := nvmlchild.Reading{Used: int64(s.used), Clock: s.clock, Temp: s.temp, Reasons: s.reasons, Power: float64(s.power),
				Gen: s.gen, Width: s.width, Rx: -1, SMBusy: -1}
			if g > 0 {
				one.Used = int64(s.usedOther)
			}
			if u := s.util(i, g); u <= 100 {
				one.Utils = []float64{float64(u)}
			}
			if i == 0 {
				before := int64(0)
				if one.Used > 70000 {
					before = one.Used
				}
				t.GPUs[g].Before = &before
			}
			f.GPUs = append(f.GPUs, frameOf(one, nvmlchild.SampledGPU{Clock: 1980, MaxGen: max(s.maxGen, 5), MaxWidth: 16}))
		}
		t.Frames = append(t.Frames, f)
	}
	t.Seconds = float64(len(t.Frames)) / 5
	return t
}

// TestShapes judges variants of the same kinds, made here.
func TestShapes(t *testing.T) {
	busy := func(i, _ int) int { return 88 + i%10 }
	base := shape{util: busy, used: 20000, clock: 1980, power: 500, temp: 62, reasons: 0, gen: 5, width: 16}
	tests := []struct {
		name string
		edit func(*shape)
		want string
	}{
		{"busy", func(*shape) {}, verdict.Healthy},
		{"hot", func(s *shape) { s.temp, s.clock, s.reasons = 88, 1200, 0x20 }, verdict.Thermal},
		{"hot by hardware", func(s *shape) { s.temp, s.clock, s.reasons = 91, 900, 0x48 }, verdict.Thermal},
		{"hot flag at full clock costs nothing", func(s *shape) { s.temp, s.reasons = 84, 0x20 }, verdict.Healthy},
		{"capped", func(s *shape) { s.clock, s.reasons = 1500, 4 }, verdict.PowerCap},
		{"capped at full clock is normal", func(s *shape) { s.clock, s.reasons = 1900, 4 }, verdict.Healthy},
		{"power brake", func(s *shape) { s.clock, s.reasons = 800, 0x88 }, verdict.PowerCap},
		{"narrow link", func(s *shape) { s.gen, s.width = 1, 4 }, verdict.PCIeLink},
		{"half the lanes", func(s *shape) { s.width = 8 }, verdict.PCIeLink},
		{"board one generation older", func(s *shape) { s.gen = 4 }, verdict.Healthy},
		{"idle link of an idle GPU", func(s *shape) { s.gen, s.end, s.util = 1, 400, func(i, _ int) int { return 0 } }, verdict.MemoryButIdle},
		{"bursts", func(s *shape) { s.util = func(i, _ int) int { return 90 * (i % 3 / 2) } }, verdict.LoaderBound},
		{"always a little", func(s *shape) { s.util = func(i, _ int) int { return 35 + i%9 } }, verdict.Healthy}, // a mean over many steps: of any cause
		{"a pause now and then", func(s *shape) {
			s.util = func(i, _ int) int {
				if i%10 == 0 {
					return 0
				}
				return 95
			}
		}, verdict.Healthy},
		{"slow start, then busy", func(s *shape) {
			s.util = func(i, _ int) int {
				if i < 40 {
					return 0
				}
				return 96
			}
		}, verdict.Healthy},
		{"nothing at all", func(s *shape) { s.util, s.used = func(int, int) int { return 0 }, 3 }, verdict.NotTraining},
		{"full before it began", func(s *shape) { s.used = 80000 }, verdict.OtherProcess},
		{"two GPUs, one works", func(s *shape) {
			s.gpus, s.usedOther = 2, 4
			s.util = func(i, g int) int { return (1 - g) * busy(i, g) }
		}, verdict.OneGPUOfN},
		{"eight GPUs work", func(s *shape) { s.gpus, s.usedOther = 8, 20000 }, verdict.Healthy},
		{"the others are taken", func(s *shape) {
			s.gpus, s.usedOther = 2, 80000
		}, verdict.Healthy},
		{"not measurable", func(s *shape) { s.util = func(int, int) int { return 999 } }, verdict.Healthy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := base
			tt.edit(&s)
			tr := s.trace()
			r := verdict.Judge(tr)
			if r.Verdict != tt.want {
				t.Errorf("got %s (%s), want %s", r.Verdict, r.Text, tt.want)
			}
			if strings.Contains(r.Text, "NaN") || strings.Contains(r.Text, "Inf") {
				t.Errorf("text: %s", r.Text)
			}
			tr.Frames = verdict.Halve(verdict.Halve(tr.Frames)) // coarser frames, the same sums
			if again := verdict.Judge(tr); again.Verdict != tt.want {
				t.Errorf("at a quarter of the resolution: %s, want %s", again.Verdict, tt.want)
			}
		})
	}
}
