package system

import (
	"sync"
	"time"
)

// Every calls f at every tick until stop is called, which waits for a call that has begun.
func Every(tick time.Duration, f func(now time.Time)) (stop func()) {
	done := make(chan struct{})
	var gone sync.WaitGroup
	gone.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-ticker.C:
				f(now)
			}
		}
	})
	return func() { close(done); gone.Wait() }
}
