package devices

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC008", "DRV015", "ROC003"}, Needs: "the device files of the GPUs", Find: deviceNodes},
	{
		Checks: []string{"DRV013"},
		Needs:  "GPUs on the bus that the driver does not list, and the kernel's log", After: unlistedGPU,
	},
}
