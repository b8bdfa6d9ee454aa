//go:build !linux

package system

import "os/exec"

// A pause is Ctrl-Z's. Only Linux has it: elsewhere the program goes on while envfix
// is stopped.
type pause struct{}

func newPause(bool) pause { return pause{} }

func (pause) begin(*exec.Cmd) {}

func (pause) end() {}
