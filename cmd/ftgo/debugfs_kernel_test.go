package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// unmount takes tracefs and debugfs away, in a mount namespace of its own.
const unmount = `
	while umount /sys/kernel/debug/tracing 2>/dev/null; do :; done
	while umount /sys/kernel/debug 2>/dev/null; do :; done
	while umount /sys/kernel/tracing 2>/dev/null; do :; done`

// TestKernelBelowDebugfs has tracefs where Linux before 4.1 has it.
func TestKernelBelowDebugfs(t *testing.T) {
	tracetest.LongKernel(t)
	const script = unmount + "\nmount -t debugfs debugfs /sys/kernel/debug"
	stdout, stderr, code := doctored(t, script, false, "doctor", "-o", "json")
	if c := readChecks(t, stdout)["tracefs"]; code != 0 || c.State != "ok" || !strings.Contains(c.Text, "/sys/kernel/debug/tracing, below debugfs only") {
		t.Errorf("doctor: status %d, %+v\n%s", code, c, stderr)
	}
	target := fixture.Build(t, "exact")
	for _, command := range []string{"probe", "count"} {
		data := filepath.Join(t.TempDir(), "data")
		stdout, stderr, code := doctored(t, script, false, command, "--wrappers", "-o", "json", "-w", data, target, "main.*", "--", target)
		text, err := os.ReadFile(data)
		if code != 0 || err != nil || strings.Contains(stderr, "mounted") {
			t.Fatalf("%s: status %d, %v\n%s", command, code, err, stderr)
		}
		o, b := readObserved(t, string(text)), readBooks(t, stdout)
		if command == "probe" {
			same(t, o, b)
		}
		sameCalls(t, o, b)
	}
}
