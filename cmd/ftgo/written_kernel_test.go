package main

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// writings are what a shell may do to a file, $0, under its reader, where $1 is another program; refused says what of it
// makes probes impossible.
var writings = []struct {
	name    string
	refused bool
	script  string
}{
	{"truncated", true, `truncate -s 4096 "$0"`},
	{"emptied", true, `: >"$0"`},
	{"written over by another program", true, `cat "$1" >"$0"`},
	// All instructions are one byte further on.
	{"written over by another program of its size, its time put back", true, `cp -p "$0" "$0.was"
		{ head -c 4096 "$0.was"; printf '\220'; tail -c +4097 "$0.was" | head -c -1; } >"$0"; touch -r "$0.was" "$0"`},
	{"longer", true, `printf x >>"$0"`},
	{"removed", false, `rm "$0"`},
	{"replaced", false, `cp "$1" "$0.new"; mv "$0.new" "$0"`},
	{"forbidden", false, `chmod 0 "$0"`},
}

// TestKernelWrittenWhilePlanned: a file that changes while its functions are decoded is not
// probed; if another takes its name, the one that was read is.
func TestKernelWrittenWhilePlanned(t *testing.T) {
	tracetest.LongKernel(t)
	flood, exact := fixture.Build(t, "flood"), fixture.Build(t, "exact")
	for _, w := range writings {
		for _, command := range []string{"probe", "count", "trace"} {
			t.Run(w.name+" under "+command, func(t *testing.T) {
				path := copied(t, flood, "flood")
				opened := func(e *cli.Env) {
					e.Adjust = func(features tracefs.Features) tracefs.Features { // when the file has been opened
						executed(t, "sh", "-ec", w.script, path, exact)
						return features
					}
				}
				r := ftgoOn(t, opened, command, "-d", "0.05", path, "main.leaf")
				switch {
				case w.refused && (r.code != cli.ExitFailed || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "ftgo: "+path+": ")):
					t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
				case !w.refused && r.code != cli.ExitOK:
					t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
				}
			})
		}
	}
}
