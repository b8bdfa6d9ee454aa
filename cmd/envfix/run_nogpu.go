package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/place"
	"envfix/internal/text"
	"envfix/internal/xslices"
)

// diagnosisLimit is how long a job that has ended may be kept for what doctor says.
const diagnosisLimit = 10 * time.Second

// diagnose is what doctor says first of this machine and of the Python that the job
// ran with, argv if this program started it; nil where it finds nothing that bars a GPU, or cannot look.
func diagnose(t *verdict.Trace, argv []string) *verdict.Diagnosis {
	ctx, cancel := context.WithTimeout(context.Background(), diagnosisLimit)
	defer cancel()
	env := jobEnv(t, argv)
	report, err := judged(ctx, place.Place{}, env)
	if err != nil || report.OK || len(report.Findings) == 0 {
		return nil
	}
	first := report.Findings[0]
	d := &verdict.Diagnosis{Check: first.Check, Text: first.Text, Fix: first.Fix}
	if env != "" {
		d.Command = text.Command("envfix", "doctor", "--env", env)
	}
	return d
}

// jobEnv is the environment that the job's Python belongs to: as the probe saw it,
// else that of the command itself; "" where none is known.
func jobEnv(t *verdict.Trace, argv []string) string {
	var dirs []string
	for _, p := range t.Processes {
		if p.Probe != nil && p.Probe.Prefix != "" {
			dirs = append(dirs, p.Probe.Prefix)
		}
	}
	for _, name := range argv[:min(len(argv), 1)] {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if program, err = filepath.Abs(program); err == nil {
			dirs = append(dirs, filepath.Dir(filepath.Dir(program)))
		}
	}
	env, _ := xslices.Find(dirs, place.IsEnv)
	return env
}
