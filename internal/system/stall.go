package system

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"
)

// activity is what a program has done until now, by all that can be seen of it
// from outside.
type activity struct {
	output  int64 // bytes that it printed
	written int64 // bytes that it and its children wrote, where the kernel says so
	files   int64 // below the directories that grow
	bytes   int64 // of those files

	read   int64 // bytes
	worked time.Duration
	idle   time.Duration // what it works, at the most, that waits: a two-hundredth of the time
}

// noise is what a program writes without getting on: wake-ups between its threads.
const noise = 4 << 10

// progress reports whether there was any since before.
func (a activity) progress(before activity) bool {
	return a.output > before.output || a.written >= before.written+noise || a.files != before.files || a.bytes != before.bytes ||
		a.read >= before.read+noise || a.worked > before.worked+a.idle
}

// A patience counts the looks at a program that got nowhere.
type patience struct {
	last  activity
	since int
}

// looks is how often a program is looked at before its time is over.
const looks = 10

// over takes a look and reports whether it was the last of too many without
// progress.
func (p *patience) over(now activity) bool {
	if now.progress(p.last) {
		*p = patience{last: now}
		return false
	}
	p.since++
	return p.since >= looks
}

// watch ends the program when it makes no progress for c.Stall.
func (c Command) watch(ctx context.Context, pid int, out *lines, end context.CancelCauseFunc) {
	tick := time.NewTicker(max(c.Stall/looks, time.Millisecond))
	defer tick.Stop()
	look := func() activity {
		a := activity{output: out.Seen()}
		a.idle = c.Stall / 200
		if a.written, a.read, a.worked = did(pid); c.Work == 0 {
			a.read, a.worked = 0, 0
		}
		for _, dir := range c.Grows {
			files, bytes := Sizes(dir)
			a.files += files
			a.bytes += bytes
		}
		return a
	}
	var p patience // the first look comes with the first tick: most programs have ended by then
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := look(); p.over(now) || now.worked > c.Work {
			end(&StallError{Argv: c.Argv, After: c.Stall})
			return
		}
	}
}

// Sizes counts the files below dir and adds up their sizes. What goes away
// meanwhile does not count.
func Sizes(dir string) (files, bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		files++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}
