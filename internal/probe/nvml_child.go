package probe

import (
	"os"
	"path/filepath"
)

// childName is the name that the child is started under: the one that this
// process has, because a program may look at it to know what it is.
func childName() string { return filepath.Base(os.Args[0]) }

// A child is the program that is started to load NVIDIA's library. It is closed
// once it is started.
type child struct {
	path  string
	close func()
}
