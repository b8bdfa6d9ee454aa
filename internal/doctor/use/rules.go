// Package use is the room of what the GPUs of this machine do and how they are set up: processes, modes, the
// kernel's log, a running process, what stands around them.
package use

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"MG003", "MG004"}, Needs: "NVSwitches, and the fabric manager that sets them up", Find: fabric},
	{Checks: []string{"MG001", "MG002"}, Needs: "the size of /dev/shm", Find: sharedMemorySize},
	{Checks: []string{"MG005"}, Needs: "whether GPUs can reach each other's memory", Find: peers},
	{Checks: []string{"HW002"}, Needs: "an Xid that is written without its address", Find: bareXid},
	{
		Checks: []string{"PY034"},
		Needs:  "libraries that a process has mapped and that have no name any more", Find: replacedUnder,
	},
	{Checks: []string{"DRV022"}, Needs: "the driver's library that a process has mapped", Find: driverOfProcess},
	{Checks: []string{"ACC020"}, Needs: "the devices that a process has open", Find: noDeviceOpen},
	{Checks: []string{"ACC010", "PERF016"}, Needs: "memory and processes of each GPU", Find: full},
	{Checks: []string{"ACC010"}, Needs: "memory that no listed process holds", Find: orphaned},
	{Checks: []string{"ACC004", "ACC005"}, Needs: "the compute mode and the processes", Find: computeMode},
	{Checks: []string{"ACC006"}, Needs: "MIG mode and its instances", Find: noInstances},
	{Checks: []string{"DRV014", "HW002", "HW009"}, Needs: "a GPU that NVML lists and cannot reach", Find: unreachable},
	{Checks: []string{"HW003", "HW004"}, Needs: "the counts of memory errors", Find: memoryErrors},
	{
		Checks: []string{"HW002", "HW003", "HW004", "HW006", "HW009", "KMD008", "KMD010", "KMD011", "KMD012", "KMD013"},
		Needs:  "the kernel's log", Find: kernelErrors,
	},
	{Checks: []string{"PERF005", "PERF006"}, Needs: "what slows a GPU that works", Find: slowed},
	{Checks: []string{"DRV016"}, Needs: "the persistence mode", Find: persistence},
}
