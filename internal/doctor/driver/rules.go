// Package driver is the room of the driver: that it is there, its two halves, and what the build needs of it.
package driver

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"DRV005", "DRV006"}, Find: driverFloor},
	{Checks: []string{"DRV005"}, Find: saidFloor},
	{Checks: []string{"DRV005"}, After: newerPackage},
}
