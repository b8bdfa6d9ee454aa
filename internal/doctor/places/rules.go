// Package places is the room of the system: WSL, a Mac, a Jetson, a notebook service, an old C library.
package places

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"MPS005"}, Find: macCUDA},
	{Checks: []string{"MPS001"}, Find: macTooOld},
	{Checks: []string{"ARC014"}, Find: jetson},
	{Checks: []string{"HW001"}, Find: noRuntimeGPU},
	{Checks: []string{"CTR011"}, Find: compat},
	{Checks: []string{"CTR014", "CTR015"}, Find: wsl},
	{Checks: []string{"CTR020"}, Find: noCgroups},
	{Checks: []string{"CTR009", "CTR022"}, Find: containerVariables},
	{Checks: []string{"MPS002"}, Find: apple},
	{Checks: []string{"PY024"}, Find: oldLibc},
	{Checks: []string{"ROC004"}, Find: kfd},
}
