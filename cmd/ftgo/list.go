package main

import (
	"context"
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
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
	rows, err := o.query().List(e.Say)
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
