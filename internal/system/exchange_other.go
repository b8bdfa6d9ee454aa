//go:build !linux

package system

import (
	"os"
)

// Exchange swaps what two names below root stand for; only Linux can.
func Exchange(*os.Root, string, string) error { return ErrNoExchange }

// SyncAll does nothing: only Linux can sync one file system.
func SyncAll(*os.Root) error { return nil }
