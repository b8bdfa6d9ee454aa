// Package files is the room of the files of an environment, of this machine, and what Python says of them.
package files

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY013", "PY004"}, Find: shadowed},
	{Checks: []string{"PY013"}, Find: hiddenModules},
	{Checks: []string{"PY010", "PY011"}, Find: unimportable},
	{Checks: []string{"PY011"}, Find: halfInstalled},
	{Checks: []string{"PY014"}, Find: leftovers},
	{Checks: []string{"PY010", "PY011", "LD003", "PY007", "PY009", "PY027", "PY042", "PY043"}, Find: installed},
	{Checks: []string{"PY011"}, Find: notImported},
	{Checks: []string{"PY011"}, Find: anotherTorch},
}
