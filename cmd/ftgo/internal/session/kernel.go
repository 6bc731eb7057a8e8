package session

import (
	"errors"
	"os"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs"
)

// openTracefs finds tracefs, mounts it where it is not, and removes what killed runs
// of ftgo have left.
func openTracefs(e *Env, r *Recorder) (*tracefs.FS, error) {
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) && os.Geteuid() == 0 {
		if f, err = tracefs.Mount(); err == nil {
			e.Say("mounted tracefs at %s", f.Dir())
		}
	}
	if err != nil {
		return nil, cli.WithStatus(cli.ExitKernel, err)
	}
	e.Use(f, r)
	if os.Geteuid() == 0 {
		sweep(e, f)
	}
	return f, nil
}

// Use notes which tracefs is used, and allows what the flags do not forbid.
func (e *Env) Use(f *tracefs.FS, r *Recorder) {
	e.FS = f
	if r.NoExpedite {
		return
	}
	f.Expedite(func(text string) {
		if r.Verbose {
			e.Say("%s", text)
		}
	})
}

// RemoveHeld removes instances that others held when they were to go, and tells of those that
// they still hold, which is no failure: nothing is on in them.
func (e *Env) RemoveHeld() {
	if e.FS == nil {
		return
	}
	if err := e.FS.RemoveHeld(); err != nil {
		e.Say("%v; the next run, or ftgo clean, removes what stays", err)
	}
}

// sweep removes leftovers of dead runs. That it can't is no reason not to trace.
func sweep(e *Env, f *tracefs.FS) {
	gone, err := f.Sweep()
	for _, l := range gone {
		e.Say("removed what process %d had left: %d probe events", l.PID, l.Events)
	}
	if err != nil {
		e.Say("%v", err)
	}
}
