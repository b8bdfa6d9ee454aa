// Package unsaid is the room of what nothing else answers: torch sees no GPU, and nothing says why. Its rules are
// asked after all others.
package unsaid

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"GPU002", "CTR001", "CTR012", "CTR013", "CTR017", "ROC002", "ROC003", "DRV001", "DRV002", "ACC008"}, After: evidence.NoteRows},
	{Checks: []string{"GPU003", "GPU004"}, After: evidence.LastRows},
	{Checks: []string{"GPU001", "ROC002"}, After: unusable},
	{Checks: []string{"GPU001"}, After: question},
	{Checks: []string{"GPU001"}, After: asked},
}
