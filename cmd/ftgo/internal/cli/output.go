package cli

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

// Rows are the formats that all commands have.
var Rows = []render.Format{render.Table, render.JSON, render.CSV, render.TSV}

// Output is the flags that say how data is written, and where.
type Output struct {
	Format render.Format
	File   string // "" is standard output
	// Formats are those that the command has.
	Formats []render.Format
}

// Define defines -o and -w.
func (o *Output) Define(fs *Flags) {
	o.DefineFormat(fs)
	fs.StringVarP(&o.File, "output-file", "w", "", "write data to `FILE` instead of standard output")
}

// DefineFormat defines -o alone.
func (o *Output) DefineFormat(fs *Flags) {
	var names []string
	for _, f := range o.Formats {
		names = append(names, f.String())
	}
	last := len(names) - 1
	Define(fs, &o.Format, "output", "o", "write `FORMAT`: "+strings.Join(names[:last], ", ")+" or "+names[last],
		Form[render.Format]{Name: "FORMAT", Read: render.ParseFormat, Write: render.Format.String, Choices: names})
}

// Check refuses formats of other commands.
func (o *Output) Check(command string) error {
	switch {
	case slices.Contains(o.Formats, o.Format):
		return nil
	case o.Format == render.Chrome:
		return Usage("%s: -o chrome is for trace", command)
	}
	return Usage("%s: -o %s is for probe", command, o.Format)
}

// Open opens where data goes, which is none of the files that are in use: read or, as the
// first word of program, run. Only its owner may read a file that is made, because arguments of
// the program's calls may be in it.
func (o *Output) Open(e *Env, program []string, inUse ...string) (w io.Writer, done func() error, err error) {
	if o.File == "" {
		w := e.Stdout
		if o.Format == render.Table {
			w = terminal.Legible(w)
		}
		return w, func() error { return nil }, nil
	}
	// Opening it for writing would empty it, and wait for the lease on a binary (see
	// offsets.Binary.Hold) to be broken.
	if len(program) > 0 {
		path, _ := exec.LookPath(program[0])
		inUse = append(inUse, path)
	}
	for _, name := range inUse {
		if sameFile(name, o.File) {
			return nil, nil, Usage("-w %s: is %s, which is in use", o.File, name)
		}
	}
	f, err := os.OpenFile(o.File, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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
