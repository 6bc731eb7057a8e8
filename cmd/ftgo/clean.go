package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ftgo/ftgo/tracefs"
)

// clean removes what killed runs have left, and only that.
func clean(_ context.Context, e *env, args []string) error {
	if len(args) > 0 {
		if args[0] == "-h" || args[0] == "--help" {
			_, err := io.WriteString(e.stdout, "usage: ftgo clean\n\nRemoves probes and trace instances of ftgo runs that were killed; those of\nliving ones and of other tools are not touched.\n")
			return err
		}
		return usage("clean takes no arguments")
	}
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) {
		// Nothing can be left where nothing could be made.
		return nil
	}
	if err != nil {
		return &statusError{exitKernel, err}
	}
	e.fsys = f
	gone, err := f.Sweep()
	for _, l := range gone {
		if _, werr := fmt.Fprintf(e.stdout, "%s\tprocess %d\t%d probe events\n", l.Name, l.PID, l.Events); werr != nil {
			return werr
		}
	}
	return err
}
