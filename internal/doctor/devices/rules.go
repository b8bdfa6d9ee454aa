package devices

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC008", "DRV015", "ROC003"}, Find: deviceNodes},
	{Checks: []string{"DRV013"}, After: unlistedGPU},
}
