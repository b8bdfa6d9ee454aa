//go:build unix

package system

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// SudoOwner returns the user who started us with sudo, nil where there is none.
// The name and the home come from the user database, not from the environment.
func SudoOwner() *Owner {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
	if err != nil || uid == 0 {
		return nil
	}
	u, err := user.LookupId(strconv.FormatUint(uid, 10))
	if err != nil {
		return nil
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil
	}
	o := &Owner{UID: uint32(uid), GID: uint32(gid), Home: u.HomeDir, Name: u.Username}
	groups, err := u.GroupIds()
	if err != nil {
		return o // without further groups
	}
	for _, text := range groups { // video and render open the GPU's devices
		if g, err := strconv.ParseUint(text, 10, 32); err == nil {
			o.Groups = append(o.Groups, uint32(g))
		}
	}
	return o
}

// Become runs this program again as owner, with the same standard streams, and
// waits for it. What sudo put into the environment goes.
func Become(owner *Owner, argv []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, argv[1:]...)
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(k, "SUDO_") && k != "HOME" && k != "USER" && k != "LOGNAME" && k != "MAIL" && !strings.HasPrefix(k, "XDG_") {
			c.Env = append(c.Env, kv)
		}
	}
	c.Env = append(c.Env, "HOME="+owner.Home, "USER="+owner.Name, "LOGNAME="+owner.Name)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.UID, Gid: owner.GID, Groups: owner.Groups}}
	return c.Run()
}
