// Package wheels is the room of what an installer could not find: the index, the Python, the platform.
package wheels

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"IDX003"}, Needs: "a board without a GPU of NVIDIA's", Find: raspberry},
	{Checks: []string{"IDX001"}, Needs: "a cudatoolkit that the named channels do not have", Find: toolkitChannel},
	{
		Checks: []string{"IDX002", "PY012", "IDX003", "IDX001"},
		Needs:  "what an installer did not find, the index, the Python and the platform", Find: notFound,
	},
	{
		Checks: []string{"PY001", "IDX002"},
		Needs:  "an index that does not exist, and the torch that is there", Find: noSuchIndex,
	},
	{Checks: []string{"PY001", "PY016"}, Needs: "`pip install torch` on Windows", Find: windowsDefault},
	{Checks: []string{"IDX001"}, Needs: "an extra index, and the build that came", Find: extraIndex},
}
