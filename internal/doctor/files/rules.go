// Package files is the room of the files of an environment, of this machine, and what Python says of them.
package files

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY013", "PY004"}, OnFiles: true, Find: shadowed},
	{Checks: []string{"PY013"}, OnFiles: true, Find: hiddenModules},
	{Checks: []string{"PY010", "PY011"}, OnFiles: true, Find: unimportable},
	{Checks: []string{"PY011"}, OnFiles: true, Find: halfInstalled},
	{Checks: []string{"PY014"}, OnFiles: true, Find: leftovers},
	{Checks: []string{"PY010", "PY011", "LD003", "PY007", "PY009", "PY027", "PY042", "PY043"}, OnFiles: true, Find: installed},
	{Checks: []string{"PY011"}, Find: anotherTorch},
}
