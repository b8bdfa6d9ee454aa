package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"envfix/data"
	"envfix/internal/index"
	"envfix/internal/ui"
	"envfix/internal/version"
	"envfix/matrix"

	"github.com/urfave/cli/v2"
)

func matrixProveCommand() *cli.Command {
	return &cli.Command{
		Name:      "prove",
		Usage:     "read the wheels of an index and compare them with the data",
		ArgsUsage: "[torch==VERSION]",
		Description: `Reads a few megabytes of each wheel by HTTP range requests: one wheel of every
release and platform by its bytes, the other Pythons by their metadata. Compares
label, CUDA, cuDNN, NCCL, triton, Pythons, glibc, the list of GPUs, sizes and
hashes. Without a requirement: every release from 2.0 on.

The index is --index, else the installer's own default.

EXAMPLES
  envfix matrix prove torch==2.15.0
  envfix matrix prove torch==2.15.0 --arch x86_64 --stack
  envfix matrix prove 'torch>=2.9' --index https://mirror.example/whl/cu126

EXIT STATUS
  0  every row agrees
  1  a row differs, or cannot be read`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "read the simple index at `URL`"},
			&cli.StringFlag{Name: "os", Value: "linux", Usage: "prove the rows of `SYSTEM`: linux, windows or macos"},
			&cli.StringFlag{Name: "arch", Usage: "only the rows of `ARCH`: x86_64, aarch64 or arm64"},
			&cli.BoolFlag{Name: "stack", Usage: "also count the GPU code in the CUDA libraries that the builds pin; reads over 1 GB per build, once"},
			&cli.BoolFlag{Name: "json", Usage: "print every comparison as JSON"},
			&cli.BoolFlag{Name: "missing", Usage: "with --stack: instead of everything, read the libraries of all builds that the data has no row for"},
			&cli.StringFlag{Name: "record", Usage: "write what was read into the data in `DIR`: sizes and hashes, and with --stack libraries without a row"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print every comparison"},
		},
		Action: matrixProveAction,
	}
}

// firstProven is the oldest release that is proven without being named: from 2.0
// on the wheels pin the libraries that they need.
const firstProven = ">=2.0"

func matrixProveAction(c *cli.Context) error {
	spec, label, err := torchArgument(c)
	if err != nil {
		return err
	}
	if label != "" {
		return &failure{code: exitUsage, text: "a label does not choose wheels here", hints: []string{"`--index https://download.pytorch.org/whl/" + label + "` does"}}
	}
	if spec.IsZero() {
		spec, _ = version.ParseSpecifier(firstProven)
	}
	m, err := matrixFor()
	if err != nil {
		return err
	}
	wheels, faults := matrix.Wheels(data.FS)
	if len(faults) > 0 {
		return &failure{code: exitFailed, text: faults[0].String()}
	}
	client, choice, err := openIndex(c.Context, c.String("index"))
	if err != nil {
		return err
	}
	started := time.Now()
	bar := newProgress()
	var proofs []index.Proof
	var notes []string
	if !c.Bool("missing") {
		proofs, notes, err = client.Prove(c.Context, m, index.Query{Torch: spec, OS: c.String("os"), Arch: c.String("arch"), Wheels: wheels}, bar.step)
	}
	bar.end()
	if err != nil {
		return indexFailure(err)
	}
	if c.Bool("stack") || c.Bool("missing") {
		more, err := proveStack(c, client, m, proofs, bar)
		if err != nil {
			return err
		}
		proofs = append(proofs, more...)
	}
	if dir := c.String("record"); dir != "" {
		if err := errors.Join(recordWheels(dir, proofs), recordLibraries(dir, proofs)); err != nil {
			return err
		}
	}
	r := newReport(client, choice, proofs, notes)
	if c.Bool("json") {
		err = writeJSON(c.App.Writer, r)
	} else {
		err = r.write(c.App.Writer, c.Bool("verbose"), time.Since(started))
	}
	if err == nil && r.Agree < len(proofs) {
		err = &failure{code: exitFailed}
	}
	return err
}

// recordWheels puts the wheels that were read into the wheels.yaml of a data
// directory, in place of the rows of the same releases and platforms.
func recordWheels(name string, proofs []index.Proof) error {
	dir, err := os.OpenRoot(name)
	if err != nil {
		return &failure{code: exitUsage, text: ui.Clean(err.Error())}
	}
	defer dir.Close()
	sets, faults := matrix.Wheels(dir.FS())
	if len(faults) > 0 && len(sets) > 0 {
		return &failure{code: exitUsage, text: faults[0].String()}
	}
	for _, p := range proofs {
		if p.Set == nil {
			continue
		}
		same := func(w matrix.WheelSet) bool {
			return w.Torch == p.Set.Torch && w.OS == p.Set.OS && w.Arch == p.Set.Arch
		}
		if i := slices.IndexFunc(sets, same); i >= 0 {
			sets[i] = *p.Set
		} else {
			sets = append(sets, *p.Set)
		}
	}
	slices.SortStableFunc(sets, func(a, b matrix.WheelSet) int {
		va, _ := version.ParsePython(a.Torch)
		vb, _ := version.ParsePython(b.Torch)
		return cmp.Or(vb.Compare(va), cmp.Compare(a.OS, b.OS), cmp.Compare(b.Arch, a.Arch))
	})
	return dir.WriteFile(matrix.WheelsFile, matrix.EncodeWheels(sets), 0o644)
}

// A proofReport is the answer of `matrix prove --json`.
type proofReport struct {
	Format   int           `json:"format"`
	Index    string        `json:"index"` // whose word it is, never the address of the default
	Agree    int           `json:"agree"`
	Differ   int           `json:"differ"`
	Unread   int           `json:"unread"`
	Pairs    int           `json:"pairs"` // releases × platforms read by their bytes
	Bytes    int64         `json:"bytes"`
	Requests int64         `json:"requests"`
	Rows     []index.Proof `json:"rows"`
	Notes    []string      `json:"notes"`
}

func newReport(client *index.Client, choice indexChoice, proofs []index.Proof, notes []string) *proofReport {
	r := &proofReport{Format: 1, Index: choice.from, Rows: proofs, Notes: append([]string{}, notes...)}
	if choice.from == "--index" {
		r.Index = client.Address()
	}
	r.Bytes, r.Requests = client.Cost()
	for _, p := range proofs {
		switch p.Verdict {
		case index.Agree:
			r.Agree++
		case index.Differ:
			r.Differ++
		default:
			r.Unread++
		}
		if p.By == "bytes" {
			r.Pairs++
		}
	}
	return r
}

// write prints one line per row, and below it what does not agree.
func (r *proofReport) write(w io.Writer, all bool, took time.Duration) error {
	var b strings.Builder
	for _, p := range r.Rows {
		if p.By == "metadata" && p.Verdict == index.Agree && !all {
			continue
		}
		fmt.Fprintf(&b, "%-14s %-8s %-8s %-7s %-9s %s\n", p.Verdict, p.Torch, p.Arch, cmp.Or(p.Python, "-"), p.By, cmp.Or(libraryName(p), p.Build))
		if p.Error != "" {
			b.WriteString("    " + ui.Clean(p.Error) + "\n")
		}
		for _, c := range p.Checks {
			if c.Verdict == index.Agree && !all {
				continue
			}
			fmt.Fprintf(&b, "    %-14s %-10s row %s, wheel %s\n", c.Verdict, c.Field, cmp.Or(c.Row, "none"), cmp.Or(ui.Clean(c.Wheel), "none"))
			if c.Note != "" {
				b.WriteString("        " + ui.Clean(c.Note) + "\n")
			}
		}
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + ui.Clean(n) + "\n")
	}
	fmt.Fprintf(&b, "%d wheels of %d releases × platforms (%s): %d agree, %d differ, %d cannot be read\n", len(r.Rows), r.Pairs, ui.Clean(r.Index), r.Agree, r.Differ, r.Unread)
	fmt.Fprintf(&b, "read %.1f MB in %d requests, %.0f s\n", float64(r.Bytes)/1e6, r.Requests, took.Seconds())
	_, err := io.WriteString(w, b.String())
	return err
}

// libraryName is the library that a proof of the stack is about.
func libraryName(p index.Proof) string {
	if p.By == "fatbins" && len(p.Checks) > 0 {
		return p.Checks[0].Field
	}
	return ""
}

// progress is one line on a terminal that is written over.
type progress struct {
	w  io.Writer
	on bool
}

func newProgress() *progress { return &progress{w: os.Stderr, on: isTerminal(os.Stderr)} }

func (p *progress) step(done, total int, what string) {
	if p.on {
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d  %s", done, total, ui.Clip(what, 60))
	}
}

func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
