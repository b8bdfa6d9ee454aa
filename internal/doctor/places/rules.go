// Package places is the room of the system: WSL, a Mac, a Jetson, a notebook service, an old C library.
package places

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"MPS001"}, Find: macTooOld},
	{Checks: []string{"ARC014"}, Find: jetson},
	{Checks: []string{"PY024"}, Find: oldLibc},
}
