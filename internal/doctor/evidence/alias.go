package evidence

import (
	"envfix/internal/doctor/know"
	"envfix/internal/doctor/read"
	"envfix/internal/version"
)

// What rules name of the packages that read and know.
type (
	Quote      = read.Evidence
	Hit        = read.Hit
	Package    = read.Package
	Allocation = read.Allocation
	Usage      = read.Usage
	Workload   = read.Workload
	Severity   = know.Severity
	Limit      = know.Limit
)

// The severities, and how good the source of torch's version is.
const (
	Note    = know.Note
	Warning = know.Warning
	Error   = know.Error
	ByProse = read.ByProse
	ByList  = read.ByList
	ByLabel = read.ByLabel
	ByTorch = read.ByTorch
)

// Public is a version without its label; LabelCUDA the CUDA of a build's label.
func Public(v string) string { return read.Public(v) }

// LabelCUDA is the CUDA of a local version label: 12.8 of cu128.
func LabelCUDA(label string) (version.Dotted, bool) { return read.LabelCUDA(label) }

// Atoi is a number; -1 none.
func Atoi(s string) int { return read.Atoi(s) }
