package main

import (
	"context"
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
)

const aboutList = `usage: ftgo list [flags] BINARY FUNC...

Lists functions and where they would be probed: the address in the file, the offset
of the first byte, the instruction where a call is seen to begin (after the stack
check, or at the start), and the number of return instructions.
`

func list(_ context.Context, e *env, args []string) (err error) {
	o, err := parseFlags(e, "list", aboutList, selectFlags, args)
	if err != nil {
		return err
	}
	if len(o.program) > 0 {
		return usage("list: runs no program")
	}
	sel, err := selectFuncs(e, o)
	if err != nil {
		return err
	}
	defer sel.binary.Close()
	rows := make([]render.ListRow, 0, len(sel.funcs))
	for _, f := range sel.funcs {
		row := render.ListRow{Name: f.Name, Addr: f.Addr, Size: f.Size, ABI: f.ABI.String()}
		if row.Offset, err = sel.binary.FileOffset(f.Addr); err != nil {
			return err
		}
		sites, serr := sel.binary.Sites(f)
		if serr != nil {
			row.Entry, row.Note = "none", "can't be probed: "+serr.Error()
		} else {
			row.Entry = sites.Strategy()
			row.Returns, row.TailJumps = len(sites.Returns), len(sites.Tails)
			if row.Returns+row.TailJumps == 0 {
				row.Note = "never returns"
			}
		}
		rows = append(rows, row)
	}
	out, done, err := o.output(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	width, _ := terminalSize(out)
	return render.List(out, o.format, rows, width)
}
