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
	var all []string
	for line := range strings.Lines(scripts.Index) {
		name, _, _ := strings.Cut(line, " ")
		all = append(all, name)
	}
	return &cli.Command{
		Name: "recipe", Summary: "answer common questions, or list them", Changes: true, FirstArgs: all,
		RunArgs: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				_, err := io.WriteString(e.Stdout, scripts.Index)
				return err
			}
			if !slices.Contains(all, args[0]) {
				return cli.Usage("unknown recipe %q%s (see ftgo recipe)", args[0], printable.DidYouMean(args[0], slices.Values(all)))
			}
			return runRecipe(ctx, e, args[0], args[1:])
		},
	}
}

// runRecipe runs a recipe with the user's arguments, and returns its exit status as an error.
func runRecipe(ctx context.Context, e *cli.Env, name string, args []string) (err error) {
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
		if code, _ := cli.ExitStatus(context.Cause(ctx)); code == 128+int(syscall.SIGINT) {
			return nil // the terminal sends Ctrl-C to the recipe, too
		}
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return cli.ProgramStatus(exit.ExitCode())
	}
	return err
}
