package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelFailIf: the status is that of the condition, and the data are there all the same.
func TestKernelFailIf(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	run := []string{target, "main.framed", "--", target, "-n", "7", "-g", "1"}
	for _, c := range []struct {
		expr string
		code int
	}{{"calls == 7", cli.ExitFailIf}, {"calls != 7", 0}} {
		for _, command := range []string{"probe", "count"} {
			r := ftgo(t, append([]string{command, "-q", "-o", "csv", "--fail-if", c.expr}, run...)...)
			if r.code != c.code || !strings.Contains(r.stdout, "\nmain.framed,7,") || strings.Count(r.stdout, "\n") != 2 {
				t.Errorf("%s --fail-if %q: status %d, stdout %q, stderr %q", command, c.expr, r.code, r.stdout, r.stderr)
			}
			if said := strings.Contains(r.stderr, "ftgo: calls == 7: true of main.framed (calls 7)"); said != (c.code != 0) {
				t.Errorf("%s --fail-if %q: stderr %q", command, c.expr, r.stderr)
			}
		}
	}
}

// TestKernelQuiet: nothing is said but what the program says.
func TestKernelQuiet(t *testing.T) {
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	for _, args := range [][]string{{"probe"}, {"count"}, {"trace", "-n", "3"}, {"probe", "-o", "tsv"}} {
		args = append(args, "-q", target, "main.framed", "--", target, "-n", "7", "-g", "1")
		r := ftgo(t, args...)
		if r.code != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "{") {
			t.Errorf("ftgo %q: status %d, stderr %q", args, r.code, r.stderr)
		}
		if !strings.Contains(r.stdout, "main.framed") {
			t.Errorf("ftgo %q: stdout %q", args, r.stdout)
		}
	}
}

// TestKernelReadyFD: what is started when "ready" has come is counted whole.
func TestKernelReadyFD(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	r, w, err := os.Pipe()
	noError(t, err)
	defer r.Close()
	cmd := exec.Command(built(t), "count", "-q", "-o", "csv", "--ready-fd", "3", "-n", "7", target, "main.framed")
	cmd.ExtraFiles = []*os.File{w}
	var out strings.Builder
	cmd.Stdout = &out
	noError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	w.Close()
	lines := bufio.NewReader(r)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("said %q, %v", line, err)
	}
	if rest, err := lines.ReadString('\n'); err == nil {
		t.Errorf("then said %q", rest)
	}
	noError(t, exec.Command(target, "-n", "7", "-g", "1").Run())
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "\nmain.framed,7,") {
		t.Errorf("%v, stdout %q", err, out.String())
	}
	unwritable, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // that the command closes
	noError(t, err)
	number := fmt.Sprint(unwritable)
	if r := ftgo(t, "count", "--ready-fd", number, "-d", "1ms", target, "main.framed"); r.code != cli.ExitFailed || !strings.Contains(r.stderr, "--ready-fd "+number) {
		t.Errorf("a descriptor that is not open for writing: status %d, %q", r.code, r.stderr)
	}
}

// TestKernelWait: neither the file nor a process is there when ftgo starts; the time
// counts from when they are.
func TestKernelWait(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "flood")
	later := filepath.Join(t.TempDir(), "later")
	p := exec.Command(built(t), "count", "-o", "csv", "--wait", "-d", "0.5", later, "main.framed")
	var out strings.Builder
	p.Stdout = &out
	stderr, err := p.StderrPipe()
	noError(t, err)
	noError(t, p.Start())
	defer time.AfterFunc(time.Minute, func() { p.Process.Kill() }).Stop()
	said := bufio.NewReader(stderr)
	if line, _ := said.ReadString('\n'); line != "ftgo: waiting for "+later+"\n" {
		t.Errorf("said %q", line)
	}
	copyFile(t, target, later)
	for line, err := "", error(nil); !strings.HasPrefix(line, "ftgo: probing 1 function in "+later); { // slow machines are told of
		if line, err = said.ReadString('\n'); err != nil {
			t.Fatalf("said %q, %v", line, err)
		}
	}
	time.Sleep(time.Second) // more than -d
	noError(t, exec.Command(later, "-for", "300ms", "-g", "1").Run())
	if rest, _ := said.ReadString(0); strings.Contains(rest, "no probe was hit") {
		t.Errorf("said %q", rest)
	}
	if err := p.Wait(); err != nil || !strings.Contains(out.String(), "\nmain.framed,") || strings.Contains(out.String(), "\nmain.framed,0,") {
		t.Errorf("%v, stdout %q", err, out.String())
	}
	// Ctrl-C while waiting is no failure.
	var errs strings.Builder
	if code := execute(cancelled(), []string{"count", "--wait", later + "x", "main.f"}, &out, &errs); code != 0 {
		t.Errorf("cancelled: status %d, %s", code, errs.String())
	}
}

// TestFailIfOfWhatIsUnknown: a condition that could never be true is refused.
func TestFailIfOfWhatIsUnknown(t *testing.T) {
	target := fixture.Build(t, "lookup")
	for _, c := range []struct{ command, expr, want string }{
		{"count", "errors > 0", "not errors"},
		{"count", "p99 > 1ms", "not p99"},
		{"count", "calls > 5 || unwound > 0", "not unwound"},
	} {
		r := ftgo(t, c.command, "--fail-if", c.expr, "--dry-run", target, "main.lookup")
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s --fail-if %q: status %d, stderr %q", c.command, c.expr, r.code, r.stderr)
		}
	}
	if r := reported(t, madeUp, "--fail-if", "errors > 0"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "with script --errors alone") {
		t.Errorf("report: status %d, stderr %q", r.code, r.stderr)
	}
}

// TestKernelFailIfWrappers: wrappers are looked at only where nothing else was asked for, here
// and in a recording.
func TestKernelFailIfWrappers(t *testing.T) {
	fixture.NeedLong(t)
	tracetest.Kernel(t)
	target := fixture.Build(t, "exact")
	// main.(*gauge).climb is called 1228 times, 307 times of these by each of three wrappers.
	for _, c := range []struct {
		expr, pattern string
		code          int
	}{
		{"calls < 1228", "main.*climb", 0},
		{"calls == 1228", "main.*climb", cli.ExitFailIf},
		{"calls == 307", "main.circle.area", cli.ExitFailIf},
		{"calls == 307", "main.(*circle).area", cli.ExitFailIf},
	} {
		r := ftgo(t, "count", "-q", "--wrappers", "--fail-if", c.expr, target, c.pattern, "--", target)
		if r.code != c.code || strings.Contains(r.stderr, "of 1 more") {
			t.Errorf("%s --fail-if %q: status %d, want %d\n%s%s", c.pattern, c.expr, r.code, c.code, r.stdout, r.stderr)
		}
	}
	file, _ := record(t, scriptShells(t)[0], scriptFor(t, "--as", "count", "--wrappers", target, "main.*climb"), target)
	if r := ftgo(t, "report", "--fail-if", "calls < 1228", file); r.code != 0 || !strings.Contains(r.stdout, " 307 ") {
		t.Errorf("report: status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
