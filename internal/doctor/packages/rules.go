// Package packages is the room of the packages beside torch, and which Python and which copy of torch runs.
package packages

import "envfix/internal/doctor/evidence"

// Rules are what this room finds.
var Rules = []evidence.Rule{
	{Checks: []string{"PY021"}, Find: notebooks},
	{Checks: []string{"PY006"}, Find: replaced},
	{Checks: []string{"PY019", "PY018"}, Find: extensions},
	{Checks: []string{"PY019"}, Find: noBinary},
	{Checks: []string{"PY019"}, After: bringsTorch},
	{Checks: []string{"PY021"}, Find: twoInterpreters},
	{Checks: []string{"PY011"}, Find: listedElsewhere},
	{Checks: []string{"PY007", "PY032"}, Find: companions},
	{Checks: []string{"PY005"}, Find: twoManagers},
	{Checks: []string{"PY004", "PY011"}, Find: notListed},
	{Checks: []string{"PY008"}, Find: numpy},
	{Checks: []string{"LD012"}, Find: onnx},
	{Checks: []string{"TK004", "LD016"}, Find: toolkit},
	{Checks: []string{"TK004"}, Find: comparedCUDA},
}
