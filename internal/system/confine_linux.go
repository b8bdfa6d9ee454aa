package system

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// changes are what can be done to files; reading them stays free.
const changes = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
	unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
	unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
	unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM

// leastLandlock is that of Linux 6.2. Those before it cannot tell a file that is cut off
// from one that is read, or let none be moved to another directory.
const leastLandlock = 3

// Confine keeps this process, and all that it will start, from changing files outside of
// some directories and from starting programs outside of others (landlock(7)). There is no
// way back, nor to more rights by a program of root's (no_new_privs): it is not for a
// process that may go on to change something. Its error says why nothing is kept.
func Confine(write, start []string) error {
	abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 || abi < leastLandlock {
		return errors.New("the kernel has no Landlock as Linux 6.2 has it, or it is switched off")
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: changes | unix.LANDLOCK_ACCESS_FS_EXECUTE}
	set, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0)
	if e != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", e)
	}
	defer unix.Close(int(set))
	for right, dirs := range map[uint64][]string{changes: write, unix.LANDLOCK_ACCESS_FS_EXECUTE: start} {
		for _, dir := range dirs {
			fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				continue // what is not there allows nothing
			}
			rule := unix.LandlockPathBeneathAttr{Allowed_access: right, Parent_fd: int32(fd)}
			_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
			unix.Close(fd)
			if e != 0 {
				return fmt.Errorf("landlock_add_rule for %s: %w", dir, e)
			}
		}
	}
	if err := noNewPrivs(); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if _, _, e := psx.Syscall3(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); e != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", e)
	}
	return nil
}

// noNewPrivs is set for each thread by the kernel itself, with a seccomp filter that admits
// all: to have each thread set it costs a second round of signals, of half a millisecond.
func noNewPrivs() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	admit := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	filter := unix.SockFprog{Len: 1, Filter: &admit}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); e != 0 {
		return e
	}
	return nil
}
