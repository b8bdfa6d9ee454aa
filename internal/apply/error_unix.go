//go:build unix

package apply

import (
	"errors"
	"syscall"
)

func diskQuota(err error) string {
	if errors.Is(err, syscall.EDQUOT) {
		return "the disk quota is used up"
	}
	return ""
}
