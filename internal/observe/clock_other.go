//go:build !linux

package observe

import "time"

// monotonic counts from the program's start: probes of other systems have
// another origin, so their times are not used there.
func monotonic() uint64 { return uint64(time.Since(begun)) }

var begun = time.Now()

func shm() (total, free int64) { return 0, 0 }

func allowedCPUs(int) float64 { return 0 }

func sinceBoot() float64 { return 0 }

func networkDisk(string) string { return "" }
