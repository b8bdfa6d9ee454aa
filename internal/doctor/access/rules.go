// Package access is the room of who may use the GPU: variables, permissions, schedulers, jobs.
package access

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC001"}, Find: visibleDevices},
	{Checks: []string{"ACC001"}, Find: hiddenElsewhere},
	{Checks: []string{"ACC011"}, Find: noDevFiles},
	{Checks: []string{"ACC008", "ROC003"}, Find: permission},
	{Checks: []string{"MG001"}, Find: sharedMemory},
	{Checks: []string{"MG006"}, Find: noPeers},
	{Checks: []string{"ACC012"}, Find: spawnedWorker},
	{Checks: []string{"MG009"}, Find: innerInterface},
	{Checks: []string{"DRV014"}, Find: missingGPU},
	{Checks: []string{"ACC001"}, Find: moreProcesses},
	{Checks: []string{"ACC003"}, Find: lateVariable},
	{Checks: []string{"ACC002"}, Find: tooMany},
	{Checks: []string{"ACC002"}, Find: tooManyLeft},
	{Checks: []string{"ACC001"}, Find: fewerCounted},
	{Checks: []string{"ACC011"}, Find: loginNode},
	{Checks: []string{"ACC011"}, Find: plainJob},
	{Checks: []string{"ACC011"}, Find: perTask},
}
