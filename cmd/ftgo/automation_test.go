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
