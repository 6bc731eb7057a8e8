package main

import (
	"errors"
	"os"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs"
)

// openTracefs finds tracefs, mounts it where it is not, and removes what killed runs
// of ftgo have left.
func openTracefs(e *env, o *options) (*tracefs.FS, error) {
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) && os.Geteuid() == 0 {
		if f, err = tracefs.Mount(); err == nil {
			e.Say("mounted tracefs at %s", f.Dir())
		}
	}
	if err != nil {
		return nil, cli.WithStatus(cli.ExitKernel, err)
	}
	e.use(f, o)
	if os.Geteuid() == 0 {
		sweep(e, f)
	}
	return f, nil
}

// use notes which tracefs is used, and allows what o does not forbid.
func (e *env) use(f *tracefs.FS, o *options) {
	e.fsys = f
	if o.noExpedite {
		return
	}
	f.Expedite(func(text string) {
		if o.verbose {
			e.Say("%s", text)
		}
	})
}

// removeHeld removes instances that others held when they were to go, and tells of those that
// they still hold, which is no failure: nothing is on in them.
func (e *env) removeHeld() {
	if e.fsys == nil {
		return
	}
	if err := e.fsys.RemoveHeld(); err != nil {
		e.Say("%v; the next run, or ftgo clean, removes what stays", err)
	}
}

// sweep removes leftovers of dead runs. That it can't is no reason not to trace.
func sweep(e *env, f *tracefs.FS) {
	gone, err := f.Sweep()
	for _, l := range gone {
		e.Say("removed what process %d had left: %d probe events", l.PID, l.Events)
	}
	if err != nil {
		e.Say("%v", err)
	}
}
