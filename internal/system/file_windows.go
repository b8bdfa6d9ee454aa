package system

const (
	nofollow = 0
	nonblock = 0
)
