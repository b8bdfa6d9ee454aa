// Package code is the room of the program itself: how it divides a model among GPUs.
package code

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"CODE016"}, Find: divided},
}
