package view

import (
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
)

// trees tells whether calls are gathered in trees.
func (o *Options) trees() bool {
	return o.Lines.Tree && !o.Lines.Begins || o.Format == render.Chrome
}

// Goroutine takes a goroutine that a call has started.
func (v *Lines) Goroutine(g *pairing.Goroutine) error {
	v.latest = max(v.latest, g.At)
	if v.trees == nil {
		return nil
	}
	return v.trees.goroutine(g, v.Clock.Wall(g.At))
}

// writeTree writes a tree, or a part of it. -n ends with the tree that has the last call.
func (v *Lines) writeTree(t *render.CallTree) error {
	write := v.calls.Tree
	if v.chrome != nil {
		write = v.chrome.Tree
	}
	calls := uint64(0)
	for i := range t.Lines {
		if c := t.Lines[i].Call; c != nil {
			calls++
			if c.Ended.IsZero() {
				c.Ended = v.Clock.Wall(v.latest) // it was open for as long as anything was seen
			}
		}
	}
	if err := write(t); err != nil {
		return err
	}
	return v.wrote(calls)
}

// idle tells how long nothing has happened.
type idle struct {
	latest uint64
	since  time.Time
}

// Flush has trees look at the time, which passes when nothing happens, too.
func (v *Lines) Flush() error {
	if v.trees != nil && v.latest > 0 {
		if v.idle.latest != v.latest {
			v.idle = idle{v.latest, time.Now()}
		}
		if err := v.trees.pass(v.Clock.Wall(v.latest).Add(time.Since(v.idle.since))); err != nil {
			return err
		}
	}
	return v.stream.Flush()
}

func (v *Lines) ProcessEnded(pid int) {
	if v.stream.ProcessEnded(pid); v.trees != nil {
		v.trees.processEnded(pid)
	}
}
