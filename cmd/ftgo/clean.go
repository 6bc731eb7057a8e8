package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/tracefs"
)

const aboutClean = `usage: ftgo clean [flags]

Removes probes and trace instances of ftgo runs that were killed; those of
living ones and of other tools are not touched.

`

// clean removes what killed runs have left, and only that.
func clean(_ context.Context, e *env, args []string) error {
	var o options
	fs := pflag.NewFlagSet("clean", pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.SetOutput(e.stderr)
	o.defineExpedite(fs)
	help := fs.BoolP("help", "h", false, "this text")
	if e.flagsOnly != nil {
		e.flagsOnly(fs)
		return nil
	}
	if err := fs.Parse(args); err != nil {
		return usage("clean: %w (see ftgo clean -h)", err)
	}
	if *help {
		_, err := io.WriteString(e.stdout, aboutClean+fs.FlagUsages())
		return err
	}
	if fs.NArg() > 0 {
		return usage("clean takes no arguments but flags")
	}
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) {
		// Nothing can be left where nothing could be made.
		return nil
	}
	if err != nil {
		return &statusError{exitKernel, err}
	}
	e.use(f, &o)
	gone, err := f.Sweep()
	for _, l := range gone {
		if _, werr := fmt.Fprintf(e.stdout, "%s\tprocess %d\t%d probe events\n", l.Name, l.PID, l.Events); werr != nil {
			return werr
		}
	}
	return err
}
