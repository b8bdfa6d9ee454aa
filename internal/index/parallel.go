package index

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Each reads n things, MaxConnections at a time, and returns them in order. progress
// (which may be nil) is called after each, by one goroutine at a time. The first error
// ends it.
func Each[T any](ctx context.Context, n int, read func(ctx context.Context, i int) (T, error), progress func(done int, of T)) ([]T, error) {
	all := make([]T, n)
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(MaxConnections)
	var mu sync.Mutex
	done := 0
	for i := 0; i < n && within.Err() == nil; i++ {
		g.Go(func() error {
			one, err := read(within, i)
			mu.Lock()
			defer mu.Unlock()
			all[i] = one
			done++
			if progress != nil && err == nil {
				progress(done, one)
			}
			return err
		})
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return all, err
}

// proofs makes n of them.
func proofs(ctx context.Context, n int, prove func(ctx context.Context, i int) Proof, progress func(done, total int, file string)) ([]Proof, error) {
	return Each(ctx, n, func(ctx context.Context, i int) (Proof, error) { return prove(ctx, i), nil }, func(done int, p Proof) {
		if progress != nil {
			progress(done, n, p.File)
		}
	})
}
