package resolver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"envfix/internal/machine"
	"envfix/matrix"
)

// answer is what a machine and its class must agree on.
func answer(d Decision, choice, then *Choice, driver DriverChoice) string {
	text, err := json.Marshal([]any{d, choice, then, driver})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// agrees holds a machine's Resolve against the Brief of its class line, as a fleet
// reads it.
func agrees(t *testing.T, m *matrix.Matrix, x *Session, h machine.Machine, r Request) *Brief {
	t.Helper()
	full, err := Resolve(m, h, r)
	if err != nil {
		t.Fatal(err)
	}
	line := h.ClassLine()
	if len(line) >= 2000 || bytes.ContainsRune(line, '\n') {
		t.Errorf("%d bytes of a class line: %s", len(line), line)
	}
	class, err := machine.Decode(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if again := class.ClassLine(); !bytes.Equal(again, line) {
		t.Errorf("the class of a class differs:\n%s\n%s", line, again)
	}
	b, err := x.Brief(class, r)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := answer(full.Decision, full.Choice, full.Then, full.Driver), answer(b.Decision, b.Choice, b.Then, b.Driver); got != want {
		t.Errorf("%s\n  machine %s\n  class   %s", line, want, got)
	}
	return b
}

func TestClassOfDrawnMachines(t *testing.T) {
	m := matrix.Embedded()
	n := 2_000
	if os.Getenv("ENVFIX_LONG") != "" {
		n = 10_000
	}
	j, rnd, x := readJudge(t), rand.New(rand.NewSource(7)), NewSession(m)
	for range n {
		c := j.draw(rnd)
		h, r := c.machine(), c.request(t)
		b := agrees(t, m, x, h, r)
		chosen := b.Choice
		if chosen == nil {
			chosen = b.Then
		}
		if chosen != nil && (len(b.Options) == 0 || b.Options[0] != Option{chosen.Torch, chosen.Build, chosen.Python}) {
			t.Errorf("%+v: torch %s %s, Python %s is chosen, the first option is another: %v", c, chosen.Torch, chosen.Build, chosen.Python, b.Options)
		}
		if len(b.Options) > 1 { // each option is what the machine would get if it were asked for
			o := b.Options[rnd.Intn(len(b.Options))]
			r.Requirements, r.Build, r.Python = nil, o.Build, o.Python
			if b.Decision == InstallCPU && o.Build != cpu { // to name a CUDA build is to ask for a GPU
				r.Build = ""
			}
			r.Requirements = append(r.Requirements, parsed(t, "torch=="+o.Torch)...)
			pinned, err := Resolve(m, h, r)
			if err != nil {
				t.Fatal(err)
			}
			got := pinned.Choice
			if got == nil {
				got = pinned.Then
			}
			if got == nil || got.Torch != o.Torch || got.Build != o.Build {
				t.Errorf("%+v: option %v, asked for, gives %s %+v", c, o, pinned.Decision, got)
			}
		}
	}
}

func TestClassOfRecordedMachines(t *testing.T) {
	m := matrix.Embedded()
	files, _ := filepath.Glob("../cmd/envfix/testdata/machines/*.json")
	if len(files) == 0 {
		t.Fatal("no recorded machines")
	}
	x := NewSession(m)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := machine.Decode(text)
		if err != nil {
			continue // a file of the tests of bad input
		}
		t.Run(filepath.Base(file), func(t *testing.T) { agrees(t, m, x, h, Request{}) })
	}
}

// BenchmarkSession answers for drawn classes, all different, as a fleet does.
func BenchmarkSession(b *testing.B) {
	m := matrix.Embedded()
	j, rnd := readJudge(b), rand.New(rand.NewSource(7))
	var all []machine.Machine
	seen := map[string]bool{}
	for len(all) < 2000 {
		c := j.draw(rnd)
		if key := fmt.Sprint(c); !seen[key] {
			seen[key] = true
			all = append(all, c.machine())
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		x := NewSession(m)
		for _, h := range all {
			if _, err := x.Brief(h, Request{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
