package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// exporting is ftgo export beside a test.
type exporting struct {
	*child
	address string
}

// export starts it, and waits until it serves.
func export(t *testing.T, args ...string) *exporting {
	t.Helper()
	return serving(t, launch(t, append([]string{"export", "--listen", "127.0.0.1:0", "--budget", "0"}, args...)...))
}

// serving waits until one serves.
func serving(t *testing.T, p *child) *exporting {
	t.Helper()
	e := &exporting{child: p}
	e.says(t, "serving metrics at ")
	lines := strings.Split(strings.TrimSpace(e.err.String()), "\n")
	_, e.address, _ = strings.Cut(lines[len(lines)-1], "serving metrics at ")
	return e
}

// metrics are what is served.
func (e *exporting) metrics(t *testing.T) string {
	t.Helper()
	answer, err := http.Get(e.address)
	noError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", answer.Status, err, body)
	}
	return string(body)
}

// value is that of a metric; -1 if it is not served.
func (e *exporting) value(t *testing.T, metric string) float64 {
	t.Helper()
	for line := range strings.Lines(e.metrics(t)) {
		if text, ok := strings.CutPrefix(line, metric+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			noError(t, err)
			return n
		}
	}
	return -1
}

func callsOf(function string) string {
	return fmt.Sprintf("ftgo_function_calls_total{function=%q}", function)
}

// comesTo waits until a metric has a value. Counters may not have more.
func (e *exporting) comesTo(t *testing.T, metric string, want float64) {
	t.Helper()
	waitFor(t, fmt.Sprintf("%s of %v", metric, want), func() bool {
		got := e.value(t, metric)
		if got > want && strings.Contains(metric, "_total") {
			t.Fatalf("%s is %v, not %v", metric, got, want)
		}
		return got == want
	})
}

// finish tells it to end; nothing may be left of it.
func (e *exporting) finish(t *testing.T) {
	t.Helper()
	e.Process.Signal(syscall.SIGTERM)
	if code := e.end(t); code != cli.ExitOK || e.out.Len() > 0 {
		t.Errorf("status %d\n%s%s", code, e.out.String(), e.err.String())
	}
	nothingOf(t, tracetest.Kernel(t), e.Process.Pid)
}

// executed runs a program to its end, which must be a good one.
func executed(t *testing.T, path string, args ...string) {
	t.Helper()
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Errorf("%s %q: %v\n%s", path, args, err, out)
	}
}

// TestKernelExportPipe: a pipe that nobody reads any more ends nothing.
func TestKernelExportPipe(t *testing.T) {
	f := tracetest.LongKernel(t)
	path, list := filepath.Join(t.TempDir(), "program"), filepath.Join(t.TempDir(), "functions")
	copyFile(t, fixture.Build(t, "exact"), path)
	fixture.Write(t, list, "main.descend\n")
	from, to, err := os.Pipe()
	noError(t, err)
	piped := &child{Cmd: exec.Command(built(t), "export", "--listen", "127.0.0.1:0", path, "@"+list)}
	piped.Stderr = to
	noError(t, piped.Start())
	t.Cleanup(func() { piped.Process.Kill(); piped.Wait() })
	to.Close()
	piped.lines = bufio.NewReader(from)
	e := serving(t, piped)
	e.says(t, "probing 1 function")
	from.Close()
	piped.Process.Signal(syscall.SIGHUP)
	executed(t, path)
	e.comesTo(t, callsOf("main.descend"), 634)
	piped.Process.Signal(syscall.SIGTERM)
	noError(t, piped.Wait())
	nothingOf(t, f, piped.Process.Pid)
}
