package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelMappedFile: of what a process has mapped that very file is probed, and not the one
// that the path which the kernel shows happens to name: it spells a newline "\012".
func TestKernelMappedFile(t *testing.T) {
	tracetest.LongKernel(t)
	program := []byte(readFile(t, fixture.Build(t, "family")))
	for _, command := range []string{"count", "probe"} {
		dir := t.TempDir()
		target, decoy := filepath.Join(dir, "libline.so.\n1"), filepath.Join(dir, `libline.so.\0121`)
		noError(t, errors.Join(os.WriteFile(target, program, 0o755), os.WriteFile(decoy, program, 0o755)))
		m := family(t, target, "stdin", "work=3")
		workCalls(t, attached(t, m, command, "-o", "json", "-p", m.pid(), "libline", "main.work"), 3)
	}
}
