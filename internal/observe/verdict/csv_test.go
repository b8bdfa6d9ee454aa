package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTraces judges samples of GPUs alone. The files are synthetic, 20 s each.
func TestTraces(t *testing.T) {
	tests := []struct{ file, verdict, confidence string }{
		{"healthy", Healthy, high},
		{"never_used", ModelOnCPU, low},
		{"loader_bound", LoaderBound, low},
		{"one_of_four", OneGPUOfN, high},
		{"other_process", OtherProcess, medium},
		{"no_util_mig_or_wsl", Healthy, low},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", tt.file+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := ReadCSV(data)
			if err != nil {
				t.Fatal(err)
			}
			r := Judge(tr)
			if diff := cmp.Diff([]string{tt.verdict, tt.confidence}, []string{r.Verdict, r.Confidence}); diff != "" {
				t.Errorf("%s\n%s", diff, r.Text)
			}
		})
	}
}

// A shape writes a trace: one line for each 200 ms and GPU.
type shape struct {
	gpus                   int
	util                   func(i, gpu int) int
	used, clock, power     int
	temp                   int
	reasons                string
	gen, width             int
	usedOther, maxGen, end int
}

func (s shape) csv() []byte {
	var b bytes.Buffer
	for i := range max(s.end, 100) {
		for g := range max(s.gpus, 1) {
			used := s.used
			if g > 0 {
				used = s.usedOther
			}
			u := s.util(i, g)
			fmt.Fprintf(&b, "%d,%d,%d,%d,%d,81920,%d,1980,%d,%d,%s,%d,%d,%d,16,4242\n", i*200, g, u, u/2, used, s.clock, s.power, s.temp, s.reasons, s.gen, max(s.maxGen, 5), s.width)
		}
	}
	return b.Bytes()
}

// TestShapes judges variants of the same kinds, made here.
func TestShapes(t *testing.T) {
	busy := func(i, _ int) int { return 88 + i%10 }
	base := shape{util: busy, used: 20000, clock: 1980, power: 500000, temp: 62, reasons: "0", gen: 5, width: 16}
	tests := []struct {
		name string
		edit func(*shape)
		want string
	}{
		{"busy", func(*shape) {}, Healthy},
		{"hot", func(s *shape) { s.temp, s.clock, s.reasons = 88, 1200, "20" }, Thermal},
		{"hot by hardware", func(s *shape) { s.temp, s.clock, s.reasons = 91, 900, "48" }, Thermal},
		{"hot flag at full clock costs nothing", func(s *shape) { s.temp, s.reasons = 84, "20" }, Healthy},
		{"capped", func(s *shape) { s.clock, s.reasons = 1500, "4" }, PowerCap},
		{"capped at full clock is normal", func(s *shape) { s.clock, s.reasons = 1900, "4" }, Healthy},
		{"power brake", func(s *shape) { s.clock, s.reasons = 800, "88" }, PowerCap},
		{"narrow link", func(s *shape) { s.gen, s.width = 1, 4 }, PCIeLink},
		{"half the lanes", func(s *shape) { s.width = 8 }, PCIeLink},
		{"board one generation older", func(s *shape) { s.gen = 4 }, Healthy},
		{"idle link of an idle GPU", func(s *shape) { s.gen, s.util = 1, func(i, _ int) int { return 0 } }, MemoryButIdle},
		{"bursts", func(s *shape) { s.util = func(i, _ int) int { return 90 * (i % 3 / 2) } }, LoaderBound},
		{"always a little", func(s *shape) { s.util = func(i, _ int) int { return 35 + i%9 } }, PythonBound},
		{"a pause now and then", func(s *shape) {
			s.util = func(i, _ int) int {
				if i%10 == 0 {
					return 0
				}
				return 95
			}
		}, Healthy},
		{"slow start, then busy", func(s *shape) {
			s.util = func(i, _ int) int {
				if i < 40 {
					return 0
				}
				return 96
			}
		}, Healthy},
		{"nothing at all", func(s *shape) { s.util, s.used = func(int, int) int { return 0 }, 3 }, ModelOnCPU},
		{"full before it began", func(s *shape) { s.used = 80000 }, OtherProcess},
		{"two GPUs, one works", func(s *shape) {
			s.gpus, s.usedOther = 2, 4
			s.util = func(i, g int) int { return (1 - g) * busy(i, g) }
		}, OneGPUOfN},
		{"eight GPUs work", func(s *shape) { s.gpus, s.usedOther = 8, 20000 }, Healthy},
		{"the others are taken", func(s *shape) {
			s.gpus, s.usedOther = 2, 80000
		}, Healthy},
		{"not measurable", func(s *shape) { s.util = func(int, int) int { return 999 } }, Healthy},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := base
			tt.edit(&s)
			tr, err := ReadCSV(s.csv())
			if err != nil {
				t.Fatal(err)
			}
			r := Judge(tr)
			if r.Verdict != tt.want {
				t.Errorf("got %s (%s), want %s", r.Verdict, r.Text, tt.want)
			}
			if strings.Contains(r.Text, "NaN") || strings.Contains(r.Text, "Inf") {
				t.Errorf("text: %s", r.Text)
			}
			tr.Frames = Halve(Halve(tr.Frames)) // coarser frames, the same sums
			if again := Judge(tr); again.Verdict != tt.want {
				t.Errorf("at a quarter of the resolution: %s, want %s", again.Verdict, tt.want)
			}
		})
	}
}

func TestReadCSVErrors(t *testing.T) {
	tests := map[string]string{
		"":                                     "no sample in it",
		"# nothing\n":                          "no sample in it",
		"1,2,3\n":                              "line 1: 3 fields, at least 15 needed",
		"0,0,x,0,0,0,0,0,0,0,0,0,0,0,0\n":      "line 1: field 3 is not a number that can be",
		"0,900000,1,0,0,0,0,0,0,0,0,0,0,0,0\n": "line 1: GPU 900000 of at most 64",
		"9,0,1,0,0,0,0,0,0,0,0,0,0,0,0\n1,0,1,0,0,0,0,0,0,0,0,0,0,0,0\n": "line 2: the time goes backwards",
	}
	for in, want := range tests {
		if _, err := ReadCSV([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

// FuzzReadCSV: whatever is accepted can be judged and written as JSON.
func FuzzReadCSV(f *testing.F) {
	f.Add([]byte("0,0,93,46,20000,143771,1980,1980,600000,60,0,5,5,16,16,4242\n"))
	f.Add([]byte("0,0,999,0,0,0,0,0,0,0,ff,0,0,0,0\n200,1,5,0,0,0,0,0,0,0,0,0,0,0,0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := ReadCSV(data)
		if err != nil {
			return
		}
		if _, err := json.Marshal(Judge(tr)); err != nil {
			t.Fatal(err)
		}
	})
}
