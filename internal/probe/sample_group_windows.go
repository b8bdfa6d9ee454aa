package probe

import "os/exec"

func ownGroup(*exec.Cmd) {}
