package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/tracefs"
)

const aboutClean = `usage: ftgo clean [flags]

Remove the probes and trace instances that killed runs of ftgo left behind.
Those of living runs and of other tools stay.
`

// clean removes what killed runs have left, and only that.
func clean(_ context.Context, e *env, args []string) error {
	var o options
	fs := newFlags("clean")
	o.defineExpedite(fs)
	if err := readFlags(e, fs, aboutClean, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return cli.Usage("clean takes no arguments but flags")
	}
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) {
		// Nothing can be left where nothing could be made.
		return nil
	}
	if err != nil {
		return cli.WithStatus(cli.ExitKernel, err)
	}
	e.use(f, &o)
	gone, err := f.Sweep()
	for _, l := range gone {
		if _, werr := fmt.Fprintf(e.Stdout, "%s\tprocess %d\t%d probe events\n", l.Name, l.PID, l.Events); werr != nil {
			return werr
		}
	}
	return err
}
