// Package code is the room of the program itself: types, devices, a loop that moves nothing to the GPU.
package code

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"CODE012"}, Find: dataTypes},
	{Checks: []string{"CODE016"}, Find: divided},
}
