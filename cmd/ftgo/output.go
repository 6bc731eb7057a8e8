package main

import (
	"io"
	"os"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// output opens where data goes.
func (o *options) output(e *env) (w io.Writer, done func() error, err error) {
	if o.outFile == "" {
		w := e.stdout
		if o.format == render.Table {
			w = terminal.Legible(w)
		}
		return w, func() error { return nil }, nil
	}
	f, err := os.Create(o.outFile)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}
