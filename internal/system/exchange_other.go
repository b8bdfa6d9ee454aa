//go:build !linux

package system

import (
	"errors"
	"os"
)

// ErrNoExchange says that this file system or system cannot exchange two names.
var ErrNoExchange = errors.New("two names cannot be exchanged at once here")

// Exchange swaps what two names below root stand for; only Linux can.
func Exchange(*os.Root, string, string) error { return ErrNoExchange }

// SyncAll does nothing: only Linux can sync one file system.
func SyncAll(*os.Root) error { return nil }
