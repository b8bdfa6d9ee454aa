// Package examine looks at this machine for doctor beyond what probe reads: at a running process,
// at every environment, at what the environment's Python says, and at the profiles that set its
// variables. What was seen becomes evidence; the judging is doctor's.
package examine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/apply"
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/fail"
	"envfix/internal/machine"
	"envfix/internal/say"
	"envfix/internal/system"
	"envfix/internal/xslices"
)

// A Python that neither computes nor reads for importStill hangs, in a driver as a rule;
// one that imports does, however long it takes on a busy machine or from a network's disk
// (torch: 5 s of processor time, in 72 s). It hangs, too, that computes without end.
const (
	importStill = 20 * time.Second
	importWork  = 2 * time.Minute
)

// importGrace is how long a Python that took too long has to end by itself.
const importGrace = 500 * time.Millisecond

// Import starts the environment's Python as its user would, here and with the variables of Python's own, and has it import torch.
// What it says is evidence like any other: its messages are read as a paste's are. limit is how
// long it may stand still; 0: the usual time.
func Import(whole context.Context, p *read.Case, limit time.Duration) error {
	i := slices.IndexFunc(p.Machine.Pythons, func(y machine.Python) bool { return y.Active })
	if i < 0 || os.Getenv("ENVFIX_ROOT") != "" {
		return fail.Wrong("`--import` starts the environment's Python, and there is no environment",
			"name it: `envfix doctor --import --env DIR`")
	}
	limit = cmp.Or(limit, importStill)
	argv := apply.QuickArgv(filepath.Join(filepath.Dir(p.Machine.Pythons[i].Path), "python"), []string{"torch"})
	// Not isolated, as -I has it. A crash says then in which line of which module it was.
	proof, err := apply.Prove(whole, system.Command{Argv: slices.Replace(argv, 1, 2, "-X", "faulthandler"), Grace: importGrace, Stall: limit, Work: importWork})
	if whole.Err() != nil {
		return whole.Err()
	}
	text := ""
	for _, what := range slices.Sorted(maps.Keys(proof.Errors)) {
		text += proof.Errors[what] + "\n"
	}
	for _, g := range proof.GPUs {
		text += g.Error + "\n"
	}
	said := imported(proof, p.Files)
	var f *fail.Error
	var still *system.StallError
	switch {
	case errors.As(err, &still):
		said.Late = limit.String()
		text += fmt.Sprintf("Python got nowhere for %s\n", limit)
	case errors.As(err, &f):
		text += strings.Join(append([]string{f.Text}, f.Details...), "\n")
	case err != nil:
		text += err.Error()
	}
	if said.Torch == "" {
		said.Failed, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	}
	r := read.NewReader(know.Embedded())
	if err := r.Read("import torch", strings.NewReader(text)); err != nil {
		return err
	}
	p.Hits = append(p.Hits, r.Case().Hits...)
	p.Imported = said
	return nil
}

// imported is what the proof says of torch, in the doctor's terms. The loader
// shows files by their real paths.
func imported(proof apply.Proof, files *machine.EnvFiles) *read.Imported {
	said := &read.Imported{
		Torch: proof.Torch, CUDA: proof.CUDA, Arches: proof.Arches, Path: proof.Path, Mapped: proof.Mapped,
		GPUs: len(proof.GPUs),
	}
	if files == nil {
		return said
	}
	for _, dir := range append([]string{files.Dir}, files.Sites...) {
		real, _ := filepath.EvalSymlinks(dir) // "" where there is no such directory
		said.Own = xslices.Once(said.Own, say.All(dir, real))
	}
	return said
}
