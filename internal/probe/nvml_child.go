package probe

import (
	"os"
	"path/filepath"
)

// childCommand is the hidden command of envfix that answers askNVML.
const childCommand = "__nvml"

// useWord asks the child also for what uses the GPUs.
const useWord = "use"

// childName is the name that the child is started under: the one that this
// process has, because a program may look at it to know what it is.
func childName() string { return filepath.Base(os.Args[0]) }
