package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelHeadless: a process whose first thread has ended has a file, libraries and memory
// all the same.
func TestKernelHeadless(t *testing.T) {
	tracetest.LongKernel(t)
	target := server(t, fixture.Build(t, "headless"))
	pid := fmt.Sprint(target.Process.Pid)
	for _, args := range [][]string{{"main.zeros"}, {target.Path, "main.zeros"}, {filepath.Base(target.Path), "main.zeros"}} {
		r := ftgo(t, append([]string{"trace", "-n", "3", "-p", pid}, args...)...)
		if n := strings.Count(r.stdout, `main.zeros(s="\x00\x00\x00\x00\x00\x00\x00\x00") = 8`); r.code != 0 || n != 3 {
			t.Errorf("%q: status %d, %d of 3 calls\n%s%s", args, r.code, n, r.stdout, r.stderr)
		}
	}
	mapped, err := procfs.Mappings(target.Process.Pid)
	if err != nil || len(mapped) == 0 {
		t.Fatalf("mappings %v, %v", mapped, err)
	}
	if readable, known := procfs.NewMemory().Readable(target.Process.Pid, mapped[0].Start, 8, func() bool { return true }); !readable || !known {
		t.Errorf("%#x: readable %v, known %v", mapped[0].Start, readable, known)
	}
}
