package apply

import (
	"context"
	"math/rand/v2"
	"time"

	"envfix/internal/fail"
)

// netRetries is how often a step that the network failed is tried again, where
// that may help. The installers try each request several times before that.
const netRetries = 3

// again reports whether a step that failed with err is tried once more, after it
// has waited. tries is how often it was tried.
func (r *run) again(ctx context.Context, err error, tries int) bool {
	e, ours := err.(*fail.Error)
	if !ours || tries > min(e.Again, r.Retries) {
		return false
	}
	pause := backoff(tries)
	r.say("%s; try %d of %d in %v", e.Text, tries+1, min(e.Again, r.Retries)+1, pause.Round(time.Second))
	if r.Wait != nil {
		return r.Wait(ctx, pause) == nil
	}
	over, stop := context.WithTimeout(ctx, pause)
	defer stop()
	<-over.Done()
	return ctx.Err() == nil
}

// backoff is how long to wait after so many tries: 5, 15, 45 s and so on, each
// shortened by chance by up to a half, so that not all machines of a cluster come
// back at once.
func backoff(tries int) time.Duration {
	most := 5 * time.Second
	for range min(tries, 6) - 1 {
		most *= 3
	}
	return most - rand.N(most/2)
}
