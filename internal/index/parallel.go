package index

import (
	"context"
	"sync"
)

// inParallel makes n proofs, MaxConnections at a time, and returns them in order.
// progress (which may be nil) is called after each, by one goroutine at a time.
// An error is ctx's, and means that some were not made.
func inParallel(ctx context.Context, n int, prove func(i int) Proof, progress func(done, total int, file string)) ([]Proof, error) {
	proofs := make([]Proof, n)
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, 0
	for range MaxConnections {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n || ctx.Err() != nil {
					return
				}
				p := prove(i)
				mu.Lock()
				proofs[i] = p
				done++
				if progress != nil {
					progress(done, n, p.File)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return proofs, nil
}
