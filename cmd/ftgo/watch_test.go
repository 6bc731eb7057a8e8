package main

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWatchVariables: without VAR the program's own variables are listed with their types, globs select some, and of
// a slip in any part of a path the nearest name is said.
func TestWatchVariables(t *testing.T) {
	target := fixture.Build(t, "lookup")
	untyped := fixture.Build(t, "lookup", "-ldflags=-w")
	stripped := fixture.Build(t, "lookup", "-ldflags=-s -w")
	const list = "VARIABLE       TYPE\nmain.cfg       main.config\nmain.counter   int\nmain.errNoKey  error\nmain.last      []int\n"
	for _, c := range []struct {
		args        []string
		code        int
		stdout, err string
	}{
		{[]string{target}, 0, list, "variables of other packages"},
		{[]string{untyped}, 0, "main.counter   ?\n", ""},
		{[]string{target, "--", target}, cli.ExitUsage, "", "watch: no VAR"},
		{[]string{"-o", "json", target}, cli.ExitUsage, "", "-o json needs VAR"},
		{[]string{target, "main.counte"}, cli.ExitNothing, "", "find variable main.counte: no such variable: did you mean main.counter?"},
		{[]string{target, "mian.cfg.Limits.Max"}, cli.ExitNothing, "", "did you mean main.cfg.Limits.Max?"},
		{[]string{target, "main.cgf.Limits.Max"}, cli.ExitNothing, "", "did you mean main.cfg.Limits.Max?"},
		{[]string{target, "main.cfg.Limts.Max"}, cli.ExitUsage, "", `no field "Limts": did you mean Limits?`},
		{[]string{stripped}, cli.ExitNothing, "", "list variables: the file names none (stripped?)"},
		{[]string{stripped, "main.counter"}, cli.ExitNothing, "", "list variables: the file names none (stripped?)"},
		{[]string{stripped, "main.*"}, cli.ExitNothing, "", "list variables: the file names none (stripped?)"},
		{[]string{target, "*none*"}, cli.ExitNothing, "", `no variable matches "*none*"`},
		{[]string{target, "main.*"}, 0, "p:ftgo/", ""},
		{[]string{target, "*"}, 0, "p:ftgo/", "variables left out: of types that are not known, or more than a probe can fetch"},
		{[]string{untyped, "main.*"}, cli.ExitNothing, "", "4 variables left out: of types that are not known"},
	} {
		r := ftgo(t, append([]string{"watch", "--dry-run"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout, c.stdout) || (c.stdout == "") != (r.stdout == "") || !strings.Contains(r.stderr, c.err) {
			t.Errorf("watch %q: status %d\n%s%s\nwant %d\n%s%s", c.args, r.code, r.stdout, r.stderr, c.code, c.stdout, c.err)
		}
	}
}
