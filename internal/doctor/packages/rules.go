// Package packages is the room of the packages beside torch, and which Python and which copy of torch runs.
package packages

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY021"}, Needs: "the Pythons that Jupyter starts, and the environment", Find: notebooks},
	{Checks: []string{"PY006"}, Needs: "a torch, and the one that took its place", Find: replaced},
	{Checks: []string{"PY001"}, Needs: "a project of uv, and the CPU build that it installed", Find: uvProject},
	{Checks: []string{"PY019", "PY018"}, Needs: "an extension's version and torch's", Find: extensions},
	{Checks: []string{"PY019"}, Needs: "an extension that names the one torch it is for", After: bringsTorch},
	{Checks: []string{"PY021"}, Needs: "two values of sys.executable", Find: twoInterpreters},
	{Checks: []string{"PY011"}, Needs: "a line with the version of a list and that of Python", Find: twoTold},
	{Checks: []string{"PY021"}, Needs: "a Python that has torch, and one that does not", Find: hereAndNotThere},
	{Checks: []string{"TK019"}, Needs: "a build that does not find torch", Find: isolated},
	{Checks: []string{"PY011"}, Needs: "where torch was imported from, and where pip shows it", Find: listedElsewhere},
	{Checks: []string{"PY007", "PY032"}, Needs: "the versions of torch, torchvision and torchaudio", Find: companions},
	{
		Checks: []string{"PY004", "PY005", "PY011"},
		Needs:  "several entries of torch, and where it was imported from", Find: copies,
	},
	{Checks: []string{"PY008"}, Needs: "numpy and torch", Find: numpy},
	{Checks: []string{"PY007", "ROC002"}, Needs: "a ROCm library beside a CUDA torch", Find: rocmCompanion},
	{Checks: []string{"LD012"}, Needs: "onnxruntime-gpu, what lies beside it, and the CPU that is used", Find: onnx},
	{Checks: []string{"TK004", "LD016"}, Needs: "nvcc and torch's CUDA while something is built", Find: toolkit},
	{Checks: []string{"TK004"}, Needs: "the two versions of CUDA that a message compares", Find: comparedCUDA},
}
