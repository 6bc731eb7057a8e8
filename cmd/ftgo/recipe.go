package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/scripts"
)

func recipeCommand(e *cli.Env) *cli.Command {
	return &cli.Command{
		Name: "recipe", Summary: "answer what is asked most, or list these questions", Changes: true,
		Firsts: func() []string { return recipes(scripts.Index) },
		Plain: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				_, err := io.WriteString(e.Stdout, scripts.Index)
				return err
			}
			if all := recipes(scripts.Index); !slices.Contains(all, args[0]) {
				return cli.Usage("unknown recipe %q%s (see ftgo recipe)", args[0], printable.DidYouMean(args[0], slices.Values(all)))
			}
			return cook(ctx, e, args[0], args[1:])
		},
	}
}

// recipes are the names of all.
func recipes(list string) (names []string) {
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	return names
}

// cook runs a recipe with the user's arguments, and ends with its status.
func cook(ctx context.Context, e *cli.Env, name string, args []string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ftgo-recipe-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(dir, scripts.Recipes); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", append([]string{filepath.Join(dir, "recipes", name)}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, e.Stdout, e.Stderr
	cmd.Env = append(os.Environ(), "FTGO="+self)
	cmd.Cancel = func() error {
		if by := (*cli.EndedBy)(nil); errors.As(context.Cause(ctx), &by) && by.Signal == os.Interrupt {
			return nil // of Ctrl-C the recipe knows
		}
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return cli.ProgramStatus(exit.ExitCode())
	}
	return err
}
