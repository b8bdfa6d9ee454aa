// Package code is the room of the program itself: types, devices, a loop that moves nothing to the GPU.
package code

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"CODE012"}, Needs: "the two types that a message names", Find: dataTypes},
	{Checks: []string{"ARC015"}, Needs: "a type that ctranslate2 does not compute in", Find: computeType},
	{Checks: []string{"PERF019"}, Needs: "that what is missing is optional", Find: optional},
	{Checks: []string{"PERF019"}, Needs: "the device that was asked for", Find: askedCPU},
	{Checks: []string{"PERF001"}, Needs: "a GPU that torch sees and that does nothing at all", Find: unusedGPU},
	{Checks: []string{"PERF001"}, Needs: "a loop that moves nothing to the GPU", Find: nothingMoved},
	{Checks: []string{"CODE016"}, Needs: "a model's heads, and the GPUs that share them", Find: divided},
}
