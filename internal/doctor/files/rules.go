// Package files is the room of the files of an environment, of this machine, and what Python says of them.
package files

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY013", "PY004"}, Needs: "where `import torch` looks", Find: shadowed},
	{Checks: []string{"PY011"}, Needs: "the metadata of torch's packages and their files", Find: halfInstalled},
	{Checks: []string{"PY014"}, Needs: "directories whose name begins with ~", Find: leftovers},
	{
		Checks: []string{"PY010", "PY011", "LD003", "PY007", "PY009", "PY042", "PY043"},
		Needs:  "what the packages require of each other, RECORD and the disk", Find: installed,
	},
	{
		Checks: []string{"IDX003", "PY027"},
		Needs:  "the processor and the Python that torch's libraries are for", Find: foreignFiles,
	},
	{
		Checks: []string{"PY011"},
		Needs:  "that Python imports torch, and when it does not, how it ended", Find: notImported,
	},
	{
		Checks: []string{"PY011"},
		Needs:  "torch's version and CUDA as Python says them and as the files do", Find: anotherTorch,
	},
	{
		Checks: []string{"PY011"},
		Needs:  "the GPUs that torch has code for and those that the data says of its build", Find: anotherBuild,
	},
	{
		Checks: []string{"LD002"},
		Needs:  "the version of the cuDNN that was loaded and that of its package", Find: anotherCuDNN,
	},
}
