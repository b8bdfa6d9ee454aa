// Package memory is the room of a GPU whose memory did not do: whose it is, and whether it is full.
package memory

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC010", "ACC009"}, Find: whoseMemory},
	{Checks: []string{"ACC010"}, Find: fullTable},
	{Checks: []string{"ACC004"}, Find: exclusiveRoom},
	{Checks: []string{"ACC009"}, After: roomLeft},
	{Checks: []string{"ACC007"}, Find: sliced},
}
