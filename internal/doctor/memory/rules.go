// Package memory is the room of a GPU whose memory did not do: whose it is, and whether it is full.
package memory

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC010", "ACC009"}, Needs: "the numbers of an out-of-memory message", Find: whoseMemory},
	{
		Checks: []string{"ACC010"},
		Needs:  "an out-of-memory message, and nvidia-smi that shows full memory", Find: fullTable,
	},
	{
		Checks: []string{"ACC004"},
		Needs:  "an out-of-memory message, and a GPU in exclusive mode with room", Find: exclusiveRoom,
	},
	{Checks: []string{"ACC009"}, Needs: "an out-of-memory message, and memory that is free", After: roomLeft},
	{Checks: []string{"ACC007"}, Needs: "the GPU's memory, and what a message says of it", Find: sliced},
}
