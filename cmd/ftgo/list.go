package main

import (
	"context"
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
	"github.com/ftgo/ftgo/offsets"
)

const aboutList = `usage: ftgo list [flags] BINARY FUNC...

List functions and where ftgo would probe them: the address in the file, the
offset of the first byte, where a call is seen to begin (after the stack check,
or at the start), and the number of return instructions. The list includes
functions that the compiler inlined; one without code of its own has no address.
FUNC may also be an instruction, main.f+0x1a, or a source line, store.go:42.
`

func list(_ context.Context, e *env, args []string) (err error) {
	o, err := parseFlags(e, "list", aboutList, selectFlags|listFlags, args)
	if err != nil {
		return err
	}
	if len(o.program) > 0 {
		return cli.Usage("list: runs no program")
	}
	rows, err := listRows(e, o)
	if err != nil {
		return err
	}
	out, done, err := o.output(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if o.signatures && o.format == render.Table {
		for i := range rows {
			if rows[i].Signature != "" {
				rows[i].Name = rows[i].Signature
			}
		}
	}
	width, _ := terminal.Size(out)
	return render.List(out, o.format, rows, width)
}

// listRows are the functions by address, then those that were inlined only by name, and
// then the instructions as they were asked for.
func listRows(e *env, o *options) ([]render.ListRow, error) {
	w, err := readWanted(o)
	if err != nil {
		return nil, err
	}
	b := w.binary
	defer b.Close()

	l := newListing(b)
	if l.inlinedErr != nil {
		e.Say("%s: which calls are inlined is not known: %v", b.Path(), l.inlinedErr)
	}
	funcs, unmatched := offsets.Select(b.Funcs(), w.include, w.exclude)
	for _, f := range funcs {
		if err := l.function(f); err != nil {
			return nil, err
		}
	}
	bodiless, elsewhere := offsets.Select(l.bodiless, w.include, w.exclude)
	for _, f := range bodiless {
		l.inlined(f.Name)
	}
	for _, p := range unmatched {
		for _, q := range elsewhere {
			if p.String() == q.String() {
				return nil, cli.Nothing("%s", noMatch(b, p.String(), o.regexp))
			}
		}
	}
	for _, p := range w.places {
		if err := l.place(e, p); err != nil {
			return nil, err
		}
	}
	if len(l.rows) == 0 {
		return nil, cli.Nothing("%s: all functions that match are excluded", o.binary)
	}
	return l.rows, nil
}
