package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// TestKernelWrittenWhileProbed: whoever wants to write to a file that is probed waits until
// the probes are gone, and what is written then runs unharmed.
func TestKernelWrittenWhileProbed(t *testing.T) {
	f := tracetest.LongKernel(t)
	flood, exact := fixture.Build(t, "flood"), fixture.Build(t, "exact")
	want, err := exec.Command(exact).Output()
	noError(t, err)
	for _, args := range [][]string{{"probe"}, {"count"}, {"trace"}, {"raw", "probe"}, {"probe", "-i", "60"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			path := copied(t, flood, "flood")
			p := tracer(t, append(readBy(t, args), "-o", "json", "--budget", "0", path, "main.leaf", "main.framed")...)
			executed(t, path, "-n", "1009", "-g", "1")
			// Into the same file.
			executed(t, "cp", exact, path)
			// Its second session, which measures costs on ftgo itself, may still be ending.
			if left, err := filepath.Glob(fmt.Sprintf("%s/events/ftgo_%d_*_1", f.Dir(), p.Process.Pid)); err != nil || len(left) > 0 {
				t.Errorf("written while probed: %q, %v", left, err)
			}
			got, err := exec.Command(path).Output()
			if err != nil || readBooks(t, string(got)).Checksum != readBooks(t, string(want)).Checksum {
				t.Errorf("the program that was written over it: %v\n%s", err, got)
			}
			if code := p.end(t); code != cli.ExitFailed || !strings.HasSuffix(p.err.String(), "ftgo: "+path+": somebody writes to it: the probes were removed, which would be in wrong places\n") {
				t.Errorf("status %d\n%s", code, p.err.String())
			}
			nothingOf(t, f, p.Process.Pid)
			// What was seen until then is there.
			if n := callsSeen(t, args[0], p.out.String())["main.leaf"]; n != 1009 {
				t.Errorf("%d calls, want 1009\n%s", n, p.out.String())
			}
		})
	}
}

// TestKernelBeingWritten: a file that somebody is writing is not probed.
func TestKernelBeingWritten(t *testing.T) {
	tracetest.LongKernel(t)
	path := copied(t, fixture.Build(t, "flood"), "flood")
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	noError(t, err)
	defer writer.Close()
	args := []string{"count", "-d", "0.05", path, "main.leaf"}
	if r := ftgo(t, args...); r.code != cli.ExitFailed || r.stderr != "ftgo: "+path+": somebody has it open for writing (--force goes on)\n" {
		t.Errorf("status %d\n%s", r.code, r.stderr)
	}
	if r := ftgo(t, append([]string{"count", "--force"}, args[1:]...)...); r.code != cli.ExitOK {
		t.Errorf("--force: status %d\n%s", r.code, r.stderr)
	}
	// Readers and another ftgo are welcome, and so is a writer afterwards.
	writer.Close()
	p := tracer(t, "count", "-o", "json", "--budget", "0", path, "main.leaf")
	if r := ftgo(t, args...); r.code != cli.ExitOK {
		t.Errorf("beside another: status %d\n%s", r.code, r.stderr)
	}
	p.interrupted(t)
	if err := os.Truncate(path, 0); err != nil {
		t.Error(err)
	}
}
