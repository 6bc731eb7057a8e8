package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// breaking panics when it is written to.
type breaking struct{}

func (breaking) Write([]byte) (int, error) { panic("broken") }

// TestKernelPanicked: a panic while the probes are armed, and those that costs are measured
// with, leaves nothing, and ends with the status and the text that panics have.
func TestKernelPanicked(t *testing.T) {
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "server")
	const again = "FTGO_TEST_PANICS"
	if os.Getenv(again) != "" {
		execute(context.Background(), []string{"probe", "-o", "json", "-i", "0.02", target, "main.tick"}, breaking{}, os.Stderr)
	}
	server(t, target)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), again+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out.String(), "panic: broken") {
		t.Errorf("%v\n%s", err, out.String())
	}
	nothingOf(t, f, cmd.Process.Pid)
}
