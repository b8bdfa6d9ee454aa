// Package containers is the room of how a container is started and built, as text describes it.
package containers

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"CTR001", "CTR018", "CTR022", "CTR024"}, After: asksForNone},
}
