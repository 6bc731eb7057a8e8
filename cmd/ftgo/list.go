package main

import (
	"context"
	"errors"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/terminal"
)

const aboutList = `usage: ftgo list [flags] BINARY FUNC...

List functions and where ftgo would probe them: the address in the file, the
offset of the first byte, where a call is seen to begin (after the stack check,
or at the start), and the number of return instructions. The list includes
functions that the compiler inlined; one without code of its own has no address.
FUNC may also be an instruction, main.f+0x1a, or a source line, store.go:42.
`

func listCommand(e *env) *cli.Command {
	o := session.NewOptions(&e.Env)
	return &cli.Command{
		Name: "list", Summary: "list the functions that can be probed, and where", About: aboutList,
		Groups: []cli.Group{&o.Target, &o.Output, cli.Defines(func(fs *cli.Flags) {
			fs.BoolVarP(&o.Signatures, "signatures", "s", false, "show the parameters and results of functions")
		})},
		Words: o.Words("list"),
		Run:   func(context.Context) error { return list(e, o) },
	}
}

func list(e *env, o *session.Options) (err error) {
	rows, err := o.List(e.Say)
	if err != nil {
		return err
	}
	out, done, err := o.Open(&e.Env.Env, nil, o.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if o.Signatures && o.Format == render.Table {
		for i := range rows {
			if rows[i].Signature != "" {
				rows[i].Name = rows[i].Signature
			}
		}
	}
	width, _ := terminal.Size(out)
	return render.List(out, o.Format, rows, width)
}
