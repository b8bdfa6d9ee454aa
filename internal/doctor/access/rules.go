// Package access is the room of who may use the GPU: variables, permissions, schedulers, jobs.
package access

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC001"}, Find: visibleDevices},
	{Checks: []string{"ACC001"}, Find: hiddenElsewhere},
	{Checks: []string{"DRV014"}, Find: missingGPU},
	{Checks: []string{"ACC001"}, Find: moreProcesses},
	{Checks: []string{"ACC003"}, Find: lateVariable},
	{Checks: []string{"ACC002"}, Find: tooMany},
	{Checks: []string{"ACC002"}, Find: tooManyLeft},
	{Checks: []string{"ACC001"}, Find: fewerCounted},
}
