package main

import (
	"context"

	"envfix/internal/doctor/read"
	"envfix/internal/examine"
	"envfix/internal/fail"
	"envfix/internal/system"
	"envfix/internal/ui"
)

// everywhere answers `envfix doctor --all`.
func (f doctorFlags) everywhere(ctx context.Context) error {
	var by read.Case
	if err := f.judged(&by); err != nil {
		return err
	}
	told := examine.Environments(ctx, probeOptions(""), by)
	return answer(f.out, f.json, told, ui.EnvironmentTable(told, f.verbose, system.HomeDir()), fail.OK)
}
