package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelUnseen: where there are no calls, or none is shown, ftgo says why.
func TestKernelUnseen(t *testing.T) {
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	target, server := fixture.Build(t, "lookup"), server(t, fixture.Build(t, "server"))
	pid := fmt.Sprint(server.Process.Pid)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"probe", "-d", "0.1", target, "main.lookup"}, "s: no process runs " + target},
		{[]string{"count", "-d", "0.1", "-p", pid, target, "main.lookup"}, "s: process " + pid + " runs " + server.Path + ", not " + target},
		{[]string{"probe", "-d", "0.1", "-p", pid, "runtime.init.0"}, "process " + pid + " called none of these functions"},
		{[]string{"probe", target, "main.lookup", "--", "true"}, "true, another file than " + target + ", called none of these functions (--fork "},
		{[]string{"count", "-d", "0.2", target, "main.lookup", "--", "sleep", "60"}, "called none of these functions (--fork "}, // it does not wait for sleep
		{[]string{"probe", "--fork", target, "main.lookup", "--", "true"}, "true and all children called none of these functions\n"},
		{[]string{"probe", "--comm", "nobody", target, "main.lookup", "--", target, "-n", "0"}, "s: other processes had 2 calls"},
		{[]string{"probe", "-d", "0.3", "-n", "9", server.Path, "main.main", "--", server.Path}, "no call is shown: 1 call had not ended"},
		{[]string{"trace", "--where", "n > 99999", target, "main.lookup", "--", target, "-n", "0"}, "no line: --where left out all of 2 calls"},
		{[]string{"trace", "--errors", "--goid", "1", target, "main.lookup", "--", target, "-n", "0"}, "no line: --errors, --goid left out all of 2 calls"},
	} {
		if r := ftgo(t, c.args...); r.code != 0 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: status %d, want %q\n%s%s", c.args, r.code, c.want, r.stdout, r.stderr)
		}
	}
}
