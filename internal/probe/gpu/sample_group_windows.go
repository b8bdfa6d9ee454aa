package gpu

import "os/exec"

func ownGroup(*exec.Cmd) {}
