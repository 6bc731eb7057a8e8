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

func listCommand(e *env) *cli.Command {
	t, out := &cli.Target{}, &cli.Output{Formats: cli.Rows}
	return &cli.Command{
		Name: "list", Summary: "list the functions that can be probed, and where", About: aboutList,
		Groups: []cli.Group{t, out, cli.Defines(func(fs *cli.Flags) {
			fs.BoolVarP(&t.Signatures, "signatures", "s", false, "show the parameters and results of functions")
		})},
		Words: func(words, _ []string) error { return t.Words("list", words) },
		Run:   func(context.Context) error { return list(e, t, out) },
	}
}

func list(e *env, t *cli.Target, to *cli.Output) (err error) {
	rows, err := t.List(e.Say)
	if err != nil {
		return err
	}
	out, done, err := to.Open(&e.Env.Env, nil, t.Binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if t.Signatures && to.Format == render.Table {
		for i := range rows {
			if rows[i].Signature != "" {
				rows[i].Name = rows[i].Signature
			}
		}
	}
	width, _ := terminal.Size(out)
	return render.List(out, to.Format, rows, width)
}
