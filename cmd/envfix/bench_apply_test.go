package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"envfix/internal/apply"
	"envfix/internal/plan"
	"envfix/internal/testindex"
)

// BenchmarkApply times `envfix apply` from a warm cache beside what it stands for:
// `uv venv`, `uv pip install` and the same proof, by hand. Both install stand-ins
// from an index on loopback, in turn, so that a busy machine slows both alike.
func BenchmarkApply(b *testing.B) {
	uv, err := testindex.FindUV()
	if err != nil {
		b.Skipf("there is no uv to compare with: %v", err)
	}
	dir := b.TempDir()
	program := filepath.Join(dir, "envfix")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	env := append(os.Environ(), "PATH="+filepath.Dir(uv)+":/usr/bin:/bin", "ENVFIX_NVML=off", "XDG_CACHE_HOME="+dir+"/cache", "XDG_STATE_HOME="+dir+"/state")
	run := func(in string, argv ...string) string {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = in, env
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%s: %v\n%s%s", strings.Join(argv, " "), err, out, said.String())
		}
		return string(out)
	}
	wish := []string{"--gpu", "H100 80GB HBM3", "--driver", "580.95.05", "--only-index", "default"}
	p, err := plan.Decode([]byte(run(dir, append([]string{program, "plan", "--json"}, wish...)...)))
	if err != nil {
		b.Fatal(err)
	}
	index := testindex.Serve(b, standInWheels(p)...)
	var requirements []string
	interpreter := p.Python
	for _, s := range p.Steps {
		switch s.ID {
		case "torch":
			requirements = s.Run.Argv[len(s.Run.Argv)-len(p.Packages):]
		case "venv":
			interpreter = s.Run.Argv[slices.Index(s.Run.Argv, "--python")+1]
		}
	}
	fresh := func() string {
		at, err := os.MkdirTemp(dir, "project")
		if err != nil {
			b.Fatal(err)
		}
		return at
	}
	ours := func() {
		run(fresh(), append([]string{program, "apply", "--yes", "--json", "--mirror", "default=" + index.URL}, wish...)...)
	}
	byHand := func() {
		in := fresh()
		python := filepath.Join(in, ".venv/bin/python")
		run(in, uv, "venv", "--no-project", "--python", interpreter, ".venv")
		run(in, append([]string{uv, "pip", "install", "--python", python, "--default-index", index.URL}, requirements...)...)
		run(in, apply.Argv(python, []string{"torch", "torchvision"})...)
	}
	ours() // the cache
	byHand()
	var a, u []float64
	for b.Loop() {
		a, u = append(a, tookMs(ours)), append(u, tookMs(byHand))
	}
	b.ReportMetric(0, "ns/op")
	fmt.Printf("\napply from a warm cache, stand-ins: %.0f ms; uv venv, uv pip install and the same proof: %.0f ms; %.2f times, on %s\n\n",
		median(a), median(u), median(a)/median(u), here())
}

func tookMs(do func()) float64 {
	start := time.Now()
	do()
	return ms(time.Since(start))
}
