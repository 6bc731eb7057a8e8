package main

import (
	"embed"
	"fmt"
	"io"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

const aboutCompletion = `usage: ftgo completion bash|zsh|fish

Print a script that lets a shell complete commands, flags and function names:

  source <(ftgo completion bash)        for this shell; in ~/.bashrc for all
  ftgo completion zsh > ~/.zfunc/_ftgo  in a directory of $fpath
  ftgo completion fish | source
`

//go:embed completion
var completionScripts embed.FS

// shells that have a completion/ftgo.SHELL.
var shells = []string{"bash", "zsh", "fish"}

func completion(e *env, args []string) error {
	if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
		_, err := io.WriteString(e.Stdout, aboutCompletion)
		return err
	}
	if len(args) != 1 {
		return cli.Usage("completion: not one of bash, zsh, fish (see ftgo completion -h)")
	}
	script, err := completionScripts.ReadFile("completion/ftgo." + args[0])
	if err != nil {
		return cli.Usage("completion: no script for %q: there are bash, zsh, fish", args[0])
	}
	_, err = fmt.Fprintf(e.Stdout, "%s", script)
	return err
}
