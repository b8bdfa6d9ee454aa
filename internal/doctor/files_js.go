package doctor

import "envfix/internal/doctor/evidence"

// ofFiles are none: a page sees no environment and starts no Python.
var ofFiles []evidence.Rule
