package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"envfix/internal/apply"
	"envfix/internal/doctor"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/pep508"
	"envfix/internal/place"
	"envfix/internal/plan"
	"envfix/internal/planning"
	"envfix/internal/probe"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/ui"
	"envfix/internal/xslices"
	"envfix/matrix"
	"envfix/resolver"

	"github.com/urfave/cli/v2"
)

// verifyFlags are those of `envfix verify`.
type verifyFlags struct {
	place.Place
	quick bool
	gpus  int // that must compute; below 0: as many as were proved
	json  bool
}

func verifyAction(c *cli.Context) error {
	m := matrixFor()
	f := verifyFlags{Place: placeOf(c), quick: c.Bool("quick"), gpus: c.Int("gpus"), json: c.Bool("json")}
	dir, bin, err := standing(c.Context, f.Place.Dir)
	if failed := (*fail.Error)(nil); c.Bool("static") && errors.As(err, &failed) {
		failed.Host, _ = os.Hostname() // a node without one is a row of `envfix fleet report` too
	}
	if err != nil {
		return err
	}
	if !f.json && !c.Bool("static") {
		if _, err := fmt.Fprintln(c.App.Writer, f.Place.Line()); err != nil {
			return err
		}
	}
	if c.Bool("static") {
		return verifyStatic(c.Context, m, f, dir, c.App.Writer)
	}
	return verifyEnvironment(c.Context, m, f, dir, bin, c.App.Writer)
}

// verifyEnvironment has the environment in dir prove itself, and compares that with
// the data and with what it proved when it was made.
func verifyEnvironment(ctx context.Context, m *matrix.Matrix, f verifyFlags, dir, bin string, w io.Writer) error {
	others := installedOf(dir, "tensorflow", "jax", "onnxruntime", "cupy")
	modules := slices.Concat([]string{"torch"}, installedOf(dir, "torchvision", "torchaudio"), others)
	if len(others) > 0 && len(installedOf(dir, "torch")) == 0 {
		modules = others
	}
	argv := say.Either(f.quick, apply.QuickArgv, apply.Argv)
	bar := newProgress("importing " + strings.Join(modules, ", ") + " and computing")
	proof, err := apply.Outlive(argv(filepath.Join(bin, "python"), modules), func(argv []string) (apply.Proof, error) {
		return apply.Prove(ctx, system.Command{Argv: argv})
	})
	bar.end()
	if err != nil {
		return err
	}
	if proof.Torch == "" && modules[0] == "torch" {
		return &fail.Error{Code: fail.Verify, Text: "torch does not import", Details: apply.Compare(plan.Verify{}, proof),
			Hints: []string{"`envfix doctor` looks for the cause"}}
	}
	here := thisMachine(ctx, f.Dir, false)
	want, known := expected(m, here, proof)
	if slices.ContainsFunc(here.GPUs, func(g machine.GPU) bool { return g.Vendor == machine.NVIDIA && g.Visible }) {
		want.OnGPU = builtForGPU(dir, others)
	}
	want.Imports, want.GPUs = modules, max(want.GPUs, f.gpus)
	if p := apply.ProvedOf(dir); p != nil && f.gpus < 0 {
		want.GPUs = max(want.GPUs, visibleOf(p.GPUs))
	}
	wrong := apply.Compare(want, proof)
	_, notes := proof.Words()
	if made := (machineFlags{env: f.Dir}); made.remember(here).made {
		notes = append(notes, "it was made "+made.words.Instead())
	}
	if !known && proof.Torch != "" {
		notes = append(notes, "the data has no row for this build: its CUDA, cuDNN and GPU code were not compared")
	}
	if f.json {
		return answer(w, true, verifyAnswer{Format: 1, OK: len(wrong) == 0, Torch: proof.Torch, GPUs: proof.GPUs,
			Wrong: append([]string{}, wrong...), NotRun: append([]string{}, notes...)}, "", fail.CodeIf(len(wrong) > 0, fail.Verify))
	}
	if len(wrong) > 0 {
		return &fail.Error{
			Code:    fail.Verify,
			Text:    fmt.Sprintf("%s in %s does not prove itself", strings.TrimSpace(modules[0]+" "+ui.Clean(proof.Torch)), ui.Clean(f.Dir)),
			Details: wrong,
			Hints:   []string{"`envfix doctor` looks for the cause"},
		}
	}
	return writeProof(w, proof, notes)
}

// writeProof says what was proven and what was not.
func writeProof(w io.Writer, proof apply.Proof, notes []string) error {
	var b strings.Builder
	shown, _ := proof.Words()
	for _, line := range shown {
		b.WriteString("proven: " + ui.Clean(line) + "\n")
	}
	for _, line := range notes {
		b.WriteString("not proven: " + ui.Clean(line) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A verifyAnswer is `envfix verify --json`.
type verifyAnswer struct {
	Format int              `json:"format"`
	OK     bool             `json:"ok"`
	Torch  string           `json:"torch"`
	GPUs   []apply.GPUProof `json:"gpus"`
	Wrong  []string         `json:"wrong"`
	NotRun []string         `json:"not_run"`
}

// installedOf are those of some packages, under any name for a GPU, that the
// environment in dir holds.
func installedOf(dir string, names ...string) []string {
	return xslices.Filter(names, func(name string) bool {
		return hasDist(dir, name+"-*") || (name == "onnxruntime" || name == "cupy") && hasDist(dir, name+"_*-*") // onnxruntime_gpu, cupy_cuda13x
	})
}

// builtForGPU are those of frameworks that are here for a GPU: onnxruntime and jax alone compute
// on the CPU, and their code for a GPU is another package's.
func builtForGPU(dir string, names []string) []string {
	brings := map[string]string{"onnxruntime": "onnxruntime_gpu*-*", "jax": "jax_cuda*_plugin-*"}
	return xslices.Filter(names, func(name string) bool { return brings[name] == "" || hasDist(dir, brings[name]) })
}

// hasDist reports whether an environment holds a distribution of that name, a pattern.
func hasDist(dir, pattern string) bool {
	return slices.ContainsFunc([]string{"lib/python*/site-packages/", "Lib/site-packages/"}, func(at string) bool {
		found, err := filepath.Glob(filepath.Join(dir, at+pattern+".dist-info"))
		return err == nil && len(found) > 0
	})
}

// expected is what the data says of the build that the proof names; false where
// it knows no such build.
func expected(m *matrix.Matrix, h machine.Machine, proof apply.Proof) (plan.Verify, bool) {
	want := plan.Verify{Torch: proof.Torch}
	public, label, _ := strings.Cut(proof.Torch, "+")
	b, ok := m.BuildOf(public, label, h.Platform.OS, h.Platform.Arch)
	if !ok {
		return want, false
	}
	want.CUDA, want.CuDNN = b.CUDA.MajorMinor(), b.CuDNN.String()
	for _, g := range h.GPUs {
		cuda := g.Vendor == machine.NVIDIA && !b.CUDA.IsZero()
		rocm := g.Vendor == machine.AMD && strings.HasPrefix(b.Label, "rocm")
		if g.Visible && (cuda || rocm) {
			want.GPUs++
		}
	}
	want.GPUs = visibleOf(want.GPUs)
	want.Arches = append(ui.CodeWords("sm_", b.Native), ui.CodeWords("compute_", b.PTX)...)
	return want, true
}

// visibleOf is how many of n GPUs CUDA_VISIBLE_DEVICES lets a job see.
func visibleOf(n int) int {
	v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if !set {
		return n
	}
	return min(n, len(strings.FieldsFunc(v, func(r rune) bool { return r == ',' })))
}

// A staticAnswer is `envfix verify --static --json`.
type staticAnswer struct {
	Format int      `json:"format"`
	OK     bool     `json:"ok"`
	Torch  string   `json:"torch"`
	GPUs   int      `json:"gpus"` // that were proved
	Wrong  []string `json:"wrong"`

	Host  string `json:"host,omitempty"`
	Class any    `json:"class"` // the facts that decide what can run here, as `envfix facts --class` prints them
}

// verifyStatic compares the machine and the environment's files with what it proved,
// and asks the resolver whether the build still runs here. It prints one line.
func verifyStatic(ctx context.Context, m *matrix.Matrix, f verifyFlags, dir string, w io.Writer) error {
	proved := apply.ProvedOf(dir)
	h := thisMachine(ctx, f.Place.Dir, false)
	host, _ := os.Hostname() // where it has none, whoever collects this names it
	a := staticAnswer{Format: 1, Host: host, Class: json.RawMessage(h.ClassLine())}
	switch {
	case proved != nil:
		var dists []machine.DistFiles
		if files := probe.EnvFiles(probeOptions(dir)); files != nil {
			dists = files.Dists
		}
		a.Wrong = apply.Static(proved, f.gpus, h, dists)
		a.Torch, a.GPUs = proved.Torch, proved.GPUs
		if len(a.Wrong) == 0 && proved.GPUs > 0 {
			a.Wrong = append(a.Wrong, refused(m, h, proved)...)
		}
	case h.Has("torch") == nil:
		a.Wrong = append(a.Wrong, "there is no torch in it: `envfix apply` installs it")
	}
	code := fail.Verify
	if proved == nil && len(a.Wrong) == 0 { // what envfix did not make is examined as doctor does
		r, err := judged(ctx, f.Place, dir)
		if err != nil {
			return err
		}
		if r.Verdict == doctor.Unknown {
			code = fail.Unknown
		}
		a.Wrong = doctor.Wrong(r)
		if len(a.Wrong) == 0 { // fewer GPUs than were asked for
			a.Wrong = apply.Static(nil, f.gpus, h, nil)
		}
	}
	a.OK, a.Wrong = len(a.Wrong) == 0, append([]string{}, a.Wrong...)
	text := "ok, torch " + a.Torch + fmt.Sprintf(", %d GPUs", a.GPUs)
	switch {
	case !a.OK:
		text = strings.Join(a.Wrong, "; ")
	case proved == nil:
		text = "nothing is wrong with it, as far as its files, the driver and the GPUs tell; what it proved was not recorded"
	}
	return answer(w, f.json, a, fmt.Sprintf("envfix: %s: %s\n", ui.Clean(f.Place.Dir), ui.Clean(text)), fail.CodeIf(!a.OK, code))
}

// judged is what doctor says of an environment on this machine.
func judged(ctx context.Context, at place.Place, dir string) (doctor.Report, error) {
	var f doctorFlags
	f.plan.machine.env, f.plan.target.place = dir, at
	r, _, err := f.report(ctx)
	return r, err
}

// refused says why the build of an environment no longer runs on this machine; nil
// where it does, or where the data does not know the build.
func refused(m *matrix.Matrix, h machine.Machine, p *apply.Proved) []string {
	public, _, _ := strings.Cut(p.Torch, "+")
	if _, ok := m.BuildOf(public, p.Build, h.Platform.OS, h.Platform.Arch); !ok || p.Build == "" {
		return nil
	}
	q, err := pep508.Parse("torch=="+public, "")
	if err != nil {
		return nil
	}
	h.Pythons = nil // the environment has its own, which ran
	b, err := planning.Question{Matrix: m, Machine: h, Request: resolver.Request{Requirements: []pep508.Requirement{q}, Build: p.Build}}.Brief()
	if err != nil || b.Choice != nil {
		return nil
	}
	why := "the rules refuse it here"
	if len(b.Why) > 0 {
		why = b.Why[0].Text
	}
	return []string{fmt.Sprintf("torch %s %s no longer runs here: %s", public, p.Build, why)}
}
