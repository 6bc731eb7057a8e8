package main

import (
	"io"
	"os"
	"os/exec"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// output opens where data goes, which is none of the files that are read or run. Only its owner
// may read a file that is made: arguments of the program's calls may be in it.
func (o *options) output(e *env, read ...string) (w io.Writer, done func() error, err error) {
	if o.outFile == "" {
		w := e.Stdout
		if o.format == render.Table {
			w = terminal.Legible(w)
		}
		return w, func() error { return nil }, nil
	}
	// Opening it for writing would empty it, and wait for the lease on a binary (see
	// offsets.Binary.Hold) to be broken.
	inUse := append(read, o.binary, o.recorded.binary)
	if len(o.program) > 0 {
		path, _ := exec.LookPath(o.program[0])
		inUse = append(inUse, path)
	}
	for _, name := range inUse {
		if sameFile(name, o.outFile) {
			return nil, nil, cli.Usage("-w %s: is %s, which is in use", o.outFile, name)
		}
	}
	f, err := os.OpenFile(o.outFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// sameFile tells whether two names are of one regular file, whatever links lead there.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, errB := os.Stat(b)
	return err == nil && errB == nil && first.Mode().IsRegular() && os.SameFile(first, second)
}
