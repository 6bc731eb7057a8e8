package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/tracefs"
)

const aboutClean = `usage: ftgo clean [flags]

Remove the probes and trace instances that killed runs of ftgo left behind.
Those of living runs and of other tools stay.
`

func cleanCommand(e *env) *cli.Command {
	r := &session.Recorder{}
	return &cli.Command{
		Name: "clean", Summary: "remove what killed runs left in the kernel", Changes: true, About: aboutClean,
		Groups: []cli.Group{cli.Defines(r.DefineExpedite)},
		Run:    func(context.Context) error { return clean(e, r) },
	}
}

// clean removes what killed runs have left, and only that.
func clean(e *env, r *session.Recorder) error {
	f, err := tracefs.Find()
	if errors.Is(err, tracefs.ErrNotMounted) {
		// Nothing can be left where nothing could be made.
		return nil
	}
	if err != nil {
		return cli.WithStatus(cli.ExitKernel, err)
	}
	e.Use(f, r)
	gone, err := f.Sweep()
	for _, l := range gone {
		if _, werr := fmt.Fprintf(e.Stdout, "%s\tprocess %d\t%d probe events\n", l.Name, l.PID, l.Events); werr != nil {
			return werr
		}
	}
	return err
}
