// Package libraries is the room of which shared library of CUDA is taken, and which is missing.
package libraries

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"LD018"}, Find: systemLibrary},
	{Checks: []string{"DRV008", "CTR011", "LD001", "LD006"}, Find: loaderPath},
	{Checks: []string{"LD003", "LD009"}, Find: pipLibraries},
	{Checks: []string{"ARC001"}, Find: olderLibraries},
	{Checks: []string{"ARC001", "CODE010"}, Find: fourier},
	{Checks: []string{"PY010"}, After: missingCUDA},
	{Checks: []string{"LD012", "PY031"}, Find: frameworkLibrary},
	{Checks: []string{"LD003"}, Find: loadedCuDNN},
	{Checks: []string{"LD001", "LD002", "LD010"}, OnFiles: true, Find: loaded},
	{Checks: []string{"CTR011", "DRV004", "DRV008"}, OnFiles: true, Find: driverStub},
	{Checks: []string{"LD018", "PY010"}, OnFiles: true, After: unlinked},
}
