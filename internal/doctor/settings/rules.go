package settings

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"ACC023"}, OnFiles: true, Find: allocOptions},
	{Checks: []string{"ACC025"}, Find: noSuchValue},
	{Checks: []string{"TK022"}, Find: archList},
	{Checks: []string{"MG009"}, Find: noInterface},
}
