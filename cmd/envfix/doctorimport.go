package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"envfix/internal/doctor"
	"envfix/internal/machine"
	"envfix/internal/version"

	"github.com/urfave/cli/v2"
)

// importLimit is how long Python may take: torch imports in seconds from a cold
// disk, and a driver that hangs never answers.
const importLimit = 20 * time.Second

// importTorch starts the environment's Python, isolated, and has it import torch.
// What it says is evidence like any other: its messages are read as a paste's are.
func importTorch(c *cli.Context, k *doctor.Knowledge, p *doctor.Case) error {
	i := slices.IndexFunc(p.Machine.Pythons, func(y machine.Python) bool { return y.Active })
	if i < 0 || os.Getenv("ENVFIX_ROOT") != "" {
		return &failure{code: exitUsage, text: "`--import` starts the environment's Python, and there is no environment", hints: []string{"name it: `envfix doctor --import --env DIR`"}}
	}
	ctx, cancel := context.WithTimeout(c.Context, importLimit)
	defer cancel()
	proof, err := prove(ctx, filepath.Dir(p.Machine.Pythons[i].Path), []string{"torch"}, true)
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	said := &doctor.Imported{Torch: proof.Torch, CUDA: proof.CUDA}
	if n := proof.CuDNN; n > 0 {
		said.CuDNN, _ = version.ParseDotted(cudnnVersion(n))
	}
	text := ""
	for _, what := range slices.Sorted(maps.Keys(proof.Errors)) {
		text += proof.Errors[what] + "\n"
	}
	for _, g := range proof.GPUs {
		text += g.Error + "\n"
	}
	var f *failure
	switch {
	case ctx.Err() != nil:
		text += fmt.Sprintf("Python did not answer within %s\n", importLimit)
	case errors.As(err, &f):
		text += strings.Join(append([]string{f.text}, f.details...), "\n")
	case err != nil:
		text += err.Error()
	}
	if said.Torch == "" {
		said.Failed = strings.TrimSpace(text)
	}
	r := doctor.NewReader(k)
	if err := r.Read("import torch", strings.NewReader(text)); err != nil {
		return err
	}
	p.Hits = append(p.Hits, r.Case().Hits...)
	p.Imported = said
	return nil
}

// cudnnVersion reads the number that cuDNN gives itself: 8907 is 8.9.7, 91002 is
// 9.10.2 (cudnn_version.h: since 9 the major counts 10000).
func cudnnVersion(n int) string {
	if n < 10000 {
		return fmt.Sprintf("%d.%d.%d", n/1000, n/100%10, n%100)
	}
	return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100)
}
