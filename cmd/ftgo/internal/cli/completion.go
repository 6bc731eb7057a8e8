package cli

import (
	"embed"
	"fmt"
	"io"
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

// Completion is the command that prints the shells' scripts.
func Completion(e *Env) *Command {
	return &Command{
		Name: "completion", Summary: "print a script for bash, zsh or fish to complete words",
		Plain: func(args []string) error { return completion(e, args) },
	}
}

func completion(e *Env, args []string) error {
	if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
		_, err := io.WriteString(e.Stdout, aboutCompletion)
		return err
	}
	if len(args) != 1 {
		return Usage("completion: not one of bash, zsh, fish (see ftgo completion -h)")
	}
	script, err := completionScripts.ReadFile("completion/ftgo." + args[0])
	if err != nil {
		return Usage("completion: no script for %q: there are bash, zsh, fish", args[0])
	}
	_, err = fmt.Fprintf(e.Stdout, "%s", script)
	return err
}
