package devices

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"DRV013"}, After: unlistedGPU},
}
