package index

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// inParallel makes n proofs, MaxConnections at a time, and returns them in order.
// progress (which may be nil) is called after each, by one goroutine at a time.
// An error is ctx's, and means that some were not made.
func inParallel(ctx context.Context, n int, prove func(i int) Proof, progress func(done, total int, file string)) ([]Proof, error) {
	proofs := make([]Proof, n)
	var g errgroup.Group
	g.SetLimit(MaxConnections)
	var mu sync.Mutex
	done := 0
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error {
			p := prove(i)
			mu.Lock()
			defer mu.Unlock()
			proofs[i] = p
			done++
			if progress != nil {
				progress(done, n, p.File)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return proofs, nil
}
