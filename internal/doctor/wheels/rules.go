// Package wheels is the room of what an installer could not find: the index, the Python, the platform.
package wheels

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"IDX002", "PY012", "IDX003", "IDX001"}, Find: notFound},
	{Checks: []string{"PY001", "IDX002"}, Find: noSuchIndex},
	{Checks: []string{"PY001", "PY016"}, Find: windowsDefault},
	{Checks: []string{"IDX001"}, Find: extraIndex},
}
