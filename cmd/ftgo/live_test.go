package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// onTerminal runs the command on a terminal of its own, which script(1) makes, and types
// keys once text has appeared for the first time.
func onTerminal(t *testing.T, env []string, text, typed string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("script", "-qefc", "trap : INT; stty cols 100 rows 30; "+built(t)+" "+strings.Join(args, " "), "/dev/null")
	cmd.Env = append(os.Environ(), env...)
	stdin, err := cmd.StdinPipe()
	noError(t, err)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	noError(t, cmd.Start())
	killed := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer killed.Stop()
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		w.Close()
	}()
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		seen.Write(buf[:n])
		if typed != "" && strings.Contains(seen.String(), text) {
			if _, err := io.WriteString(stdin, typed); err != nil {
				t.Error(err)
			}
			typed = ""
		}
		if err != nil {
			break
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, seen.String())
	}
	return seen.String()
}

// TestKernelLive: the table on a terminal is redrawn in place until Ctrl-C, and obeys no other key.
func TestKernelLive(t *testing.T) {
	tracetest.Kernel(t)
	target := fixture.Build(t, "server")
	p := server(t, target)
	defer p.Process.Kill()
	const redrawn = "A\r\x1b[2K" // up to the first line, which is erased
	got := onTerminal(t, []string{"LC_ALL=C.UTF-8", "TERM=xterm"}, redrawn+"\x1b[1mFUNCTION", "?\x03", "probe", "-i", "0.2", target, "'main.*'")
	for _, want := range []string{"TREND", "main.tick", "total\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%q", want, got)
		}
	}
	if strings.Contains(got, "s sorts") || strings.Contains(got, "KEYS") {
		t.Errorf("keys in\n%q", got)
	}
	got = onTerminal(t, []string{"LC_ALL=C", "NO_COLOR=1", "TERM=xterm"}, redrawn+"FUNCTION", "\x03", "count", "-i", "0.2", target, "'main.*'")
	if strings.Contains(got, "\x1b[1m") || strings.ContainsFunc(got, func(r rune) bool { return r > 0x7f }) {
		t.Errorf("colours, or more than ASCII, in\n%q", got)
	}
}
