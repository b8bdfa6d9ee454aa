package settings

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC023"}, Needs: "the options in PYTORCH_CUDA_ALLOC_CONF and those of this torch", Find: allocOptions},
	{Checks: []string{"PY044"}, Needs: "PYTHONHOME and the environment", Find: pythonHome},
	{Checks: []string{"LD005"}, Needs: "CUDA_HOME and what is there", Find: cudaHome},
	{Checks: []string{"TK022"}, Needs: "TORCH_CUDA_ARCH_LIST", Find: archList},
	{Checks: []string{"MG009"}, Needs: "NCCL_SOCKET_IFNAME and the interfaces that are here", Find: noInterface},
	{Checks: []string{"PY013"}, Needs: "files that hide a module which torch imports", Find: hiddenModules},
	{Checks: []string{"PY044"}, Needs: "whether the environment's Python is there", Find: pythonGone},
	{Checks: []string{"PY014"}, Needs: "torch's package without its dist-info", Find: bareTorch},
}
