package main

import (
	"bufio"
	"fmt"
	"io"
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
	p := start(t, cmd)
	w.Close()
	lines := bufio.NewReader(r)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("said %q, %v", line, err)
	}
	if rest, err := lines.ReadString('\n'); err == nil {
		t.Errorf("then said %q", rest)
	}
	executed(t, target, "-n", "7", "-g", "1")
	if p.endsWell(t); !strings.Contains(p.out.String(), "\nmain.framed,7,") {
		t.Errorf("stdout %q", p.out.String())
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
	p := launch(t, "count", "-o", "csv", "--wait", "-d", "0.5", later, "main.framed")
	p.says(t, "ftgo: waiting for "+later+"\n")
	copyFile(t, target, later)
	p.says(t, "ftgo: probing 1 function in "+later)
	time.Sleep(time.Second) // more than -d
	executed(t, later, "-for", "300ms", "-g", "1")
	p.endsWell(t)
	if out := p.out.String(); !strings.Contains(out, "\nmain.framed,") || strings.Contains(out, "\nmain.framed,0,") || strings.Contains(p.err.String(), "no probe was hit") {
		t.Errorf("%s%s", out, p.err.String())
	}
	// Ctrl-C while waiting is no failure.
	var errs strings.Builder
	if code := execute(cancelled(), []string{"count", "--wait", later + "x", "main.f"}, io.Discard, &errs); code != 0 {
		t.Errorf("cancelled: status %d, %s", code, errs.String())
	}
}
