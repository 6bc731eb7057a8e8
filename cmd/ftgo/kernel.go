package main

import (
	"errors"
	"os"

	"github.com/ftgo/ftgo/tracefs"
)

// openTracefs finds tracefs, mounts it where it is not, and removes what killed runs
// of ftgo have left.
func openTracefs(e *env) (*tracefs.FS, error) {
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) && os.Geteuid() == 0 {
		if f, err = tracefs.Mount(); err == nil {
			e.say("mounted tracefs at %s", f.Dir())
		}
	}
	if err != nil {
		return nil, &statusError{exitKernel, err}
	}
	if os.Geteuid() == 0 {
		sweep(e, f)
	}
	return f, nil
}

// sweep removes leftovers of dead runs. That it can't is no reason not to trace.
func sweep(e *env, f *tracefs.FS) {
	gone, err := f.Sweep()
	for _, l := range gone {
		e.say("removed what process %d had left: %d probe events", l.PID, l.Events)
	}
	if err != nil {
		e.say("%v", err)
	}
}
