//go:build unix

package system

import (
	"os"
	"os/user"
	"strconv"
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
	return &Owner{UID: uint32(uid), GID: uint32(gid), Home: u.HomeDir, Name: u.Username}
}
