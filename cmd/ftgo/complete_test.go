package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestCompleteWords(t *testing.T) {
	fixture.NeedLong(t)
	exact, flood := fixture.Build(t, "exact"), fixture.Build(t, "flood")
	for _, c := range []struct {
		args []string
		kind string
		want string // one of the lines, up to the tab
	}{
		{[]string{""}, "words", "probe"},
		{[]string{"tr"}, "words", "trace"},
		{[]string{"help", "wa"}, "words", "watch"},
		{[]string{"completion", "z"}, "words", "zsh"},
		{[]string{"recipe", "goh"}, "words", "gohttpd"},
		{[]string{"recipe", "gowait", flood, "main.fr"}, "words", "main.framed"},
		{[]string{"probe", ""}, "files", ""},
		{[]string{"trace", "--out"}, "words", "--output"},
		{[]string{"trace", "--output", ""}, "words", "chrome"},
		{[]string{"trace", "--output=ch"}, "words", "--output=chrome"},
		{[]string{"trace", "--output", "=", "ch"}, "words", "--output=chrome"},
		{[]string{"probe", "-o", "c"}, "words", "csv"},
		{[]string{"probe", "-w", ""}, "files", ""},
		{[]string{"probe", flood, "main.fr"}, "words", "main.framed"},
		{[]string{"probe", "--hist", "-d", "5", flood, "main.leaf", "main.fr"}, "words", "main.framed"},
		{[]string{"trace", "--inside", "main.fr"}, "words", ""}, // of no binary yet
		{[]string{"trace", flood, "--inside", "main.fr"}, "words", "main.framed"},
		{[]string{"probe", flood, ""}, "parts", "main."},
		{[]string{"probe", flood, "internal/"}, "parts", "internal/runtime/"},
		{[]string{"probe", flood, "main.f", "--", ""}, "files", ""},
		{[]string{"list", exact, "main."}, "words", "main.main"},
		{[]string{"list", exact, "runtime."}, "parts", "runtime.mheap."},
		{[]string{"list", exact, "main.circle."}, "words", "main.circle.area"},
		{[]string{"list", exact, "main.catch."}, "words", "main.catch.func1"},
		{[]string{"list", exact, "circle."}, "words", "circle.area"},
		{[]string{"list", exact, "nosuch"}, "words", ""},
		{[]string{"probe", "/nope", "main."}, "words", ""},
		{[]string{"probe", "-p", "1x", "main."}, "files", ""},
		{[]string{"probe", "--container", "no such"}, "words", ""},
		{[]string{"probe", "--cgroup", "no such"}, "words", ""},
		{[]string{"nope", ""}, "words", ""},
	} {
		r := ftgo(t, append([]string{cli.CompleteArg, "--"}, c.args...)...)
		lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
		for i := range lines {
			lines[i], _, _ = strings.Cut(lines[i], "\t")
		}
		if r.code != 0 || lines[0] != c.kind || (c.want == "") != (len(lines) == 1) || c.want != "" && !slices.Contains(lines[1:], c.want) {
			t.Errorf("%q: status %d, %q; want %s with %q", c.args, r.code, lines, c.kind, c.want)
		}
	}
	// Every name that is offered selects something.
	for _, name := range strings.Fields(ftgo(t, cli.CompleteArg, "--", "probe", exact, "main.").stdout)[1:] {
		if strings.HasSuffix(name, ".") {
			name += "*"
		}
		if r := ftgo(t, "list", exact, name); r.code != 0 {
			t.Errorf("%s is offered, and %s", name, r.stderr)
		}
	}
}

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
			lines := []string{"ftgo prob", "ftgo probe " + target + " main.frame", "ftgo trace --output=ch", "ftgo probe " + target + " unicode/ut"}
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
			for i, want := range []string{"probe", "main.framed", "chrome", "unicode/utf8."} {
				if i >= len(got) || !strings.Contains(got[i], want) {
					t.Errorf("%q: no %s in %q", lines[i], want, out)
				}
			}
		})
	}
}
