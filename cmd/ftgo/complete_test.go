package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestCompletionInShells completes in the shells themselves.
func TestCompletionInShells(t *testing.T) {
	target := fixture.Build(t, "flood")
	dir := t.TempDir()
	noError(t, os.Symlink(built(t), filepath.Join(dir, "ftgo")))
	const fishTry = `source (ftgo completion fish | psub); for line in $argv; complete -C $line; echo .; end`
	// compadd and _files work in a widget only: here they say what they were told.
	const zshTry = `compdef() { :; }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@"; }; _files() { print FILES; }
source <(ftgo completion zsh)
for line; do words=("${(@s: :)line}"); CURRENT=$#words; _ftgo; print .; done`
	const bashTry = `compopt() { [ "$2" != default ] || echo FILES; }
source <(ftgo completion bash)
for line; do
	IFS=' ' read -ra COMP_WORDS <<<"${line//=/ = }"; [[ $line != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ftgo; printf '%s\n' "${COMPREPLY[@]}" .
done`
	for shell, script := range map[string]string{"bash": bashTry, "zsh": zshTry, "fish": fishTry} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				if os.Getenv("FTGO_TEST_KERNEL") == "require" && shell != "bash" {
					t.Errorf("%s is not installed", shell)
				}
				t.Skip(err)
			}
			lines := []string{"ftgo prob", "ftgo probe " + target + " main.frame", "ftgo trace --output=js", "ftgo probe " + target + " unicode/ut"}
			args := []string{"-c", script}
			if shell != "fish" {
				args = append(args, "-")
			}
			cmd := exec.Command(shell, append(args, lines...)...)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := strings.Split(string(out), ".\n")
			for i, want := range []string{"probe", "main.framed", "json", "unicode/utf8."} {
				if i >= len(got) || !strings.Contains(got[i], want) {
					t.Errorf("%q: no %s in %q", lines[i], want, out)
				}
			}
		})
	}
}
