package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// writings are what may be done to a file under its reader; refused says what of it makes
// probes impossible.
var writings = []struct {
	name    string
	refused bool
	do      func(path string, stat os.FileInfo) error
}{
	{"truncated", true, func(path string, _ os.FileInfo) error { return os.Truncate(path, 4096) }},
	{"emptied", true, func(path string, _ os.FileInfo) error { return os.Truncate(path, 0) }},
	{"written over by another program", true, writeOver("exact")},
	{"written over by another program of its size, its time put back", true, func(path string, stat os.FileInfo) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// All instructions are one byte further on.
		if err := os.WriteFile(path, append(b[:4096:4096], append([]byte{0x90}, b[4096:len(b)-1]...)...), 0o755); err != nil {
			return err
		}
		return os.Chtimes(path, stat.ModTime(), stat.ModTime())
	}},
	{"longer", true, func(path string, _ os.FileInfo) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("x")
		f.Close()
		return err
	}},
	{"removed", false, func(path string, _ os.FileInfo) error { return os.Remove(path) }},
	{"replaced", false, func(path string, stat os.FileInfo) error {
		if err := writeOver("exact")(path+".new", stat); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	}},
	{"forbidden", false, func(path string, _ os.FileInfo) error { return os.Chmod(path, 0) }},
}

// builtTargets are built before, where there is a test to tell.
var builtTargets = make(map[string]string)

func writeOver(target string) func(string, os.FileInfo) error {
	return func(path string, _ os.FileInfo) error {
		b, err := os.ReadFile(builtTargets[target])
		if err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o755)
	}
}

// TestKernelWrittenWhilePlanned: a file that changes while its functions are decoded is not
// probed; if another takes its name, the one that was read is.
func TestKernelWrittenWhilePlanned(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	flood := fixture.Build(t, "flood")
	builtTargets["exact"] = fixture.Build(t, "exact")
	for _, w := range writings {
		commands := []string{"probe"}
		if w.name == "truncated" {
			commands = []string{"probe", "count", "trace"}
		}
		for _, command := range commands {
			t.Run(w.name+" under "+command, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "flood")
				copyFile(t, flood, path)
				stat, err := os.Stat(path)
				noError(t, err)
				var out, errs written
				e := newEnv(&out, &errs)
				e.Adjust = func(features tracefs.Features) tracefs.Features { // when the file has been opened
					if err := w.do(path, stat); err != nil {
						t.Error(err)
					}
					return features
				}
				code := e.run(t.Context(), []string{command, "-d", "0.05", path, "main.leaf"})
				switch {
				case w.refused && (code != cli.ExitFailed || len(out.String()) > 0 || strings.Count(errs.String(), "\n") != 1 || !strings.HasPrefix(errs.String(), "ftgo: "+path+": ")):
					t.Errorf("status %d\n%s%s", code, out.String(), errs.String())
				case !w.refused && code != cli.ExitOK:
					t.Errorf("status %d\n%s%s", code, out.String(), errs.String())
				}
			})
		}
		t.Run(w.name+" when it is planned", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "flood")
			copyFile(t, flood, path)
			b, err := offsets.Open(path)
			noError(t, err)
			defer b.Close()
			stat, err := os.Stat(path)
			noError(t, err)
			leaf, ok := b.Lookup("main.leaf")
			if !ok {
				t.Fatal("no main.leaf")
			}
			plan, err := uprobe.New(b, []*offsets.Func{leaf}, uprobe.Options{Features: f.Features()})
			noError(t, err)
			noError(t, w.do(path, stat))
			session, err := tracefs.Start(t.Context(), f, plan.Target(), uprobe.TraceEvents(plan.Events), tracefs.Options{BufferKB: 64})
			if err == nil {
				err = session.Close()
			}
			if w.refused != (err != nil) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestKernelWrittenWhileProbed: whoever wants to write to a file that is probed waits until
// the probes are gone, and what is written then runs unharmed.
func TestKernelWrittenWhileProbed(t *testing.T) {
	fixture.NeedLong(t)
	f := tracetest.Kernel(t)
	flood, exact := fixture.Build(t, "flood"), fixture.Build(t, "exact")
	want, err := exec.Command(exact).Output()
	noError(t, err)
	for _, args := range [][]string{{"probe"}, {"count"}, {"trace"}, {"raw", "probe"}, {"probe", "-i", "60"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "flood")
			copyFile(t, flood, path)
			p := tracer(t, append(readBy(t, args), "-o", "json", "--budget", "0", path, "main.leaf", "main.framed")...)
			if out, err := exec.Command(path, "-n", "1009", "-g", "1").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			// Into the same file.
			if out, err := exec.Command("cp", exact, path).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
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
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	path := filepath.Join(t.TempDir(), "flood")
	copyFile(t, fixture.Build(t, "flood"), path)
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
	p.Process.Signal(syscall.SIGINT)
	if code := p.end(t); code != cli.ExitOK {
		t.Errorf("status %d\n%s", code, p.err.String())
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Error(err)
	}
}
