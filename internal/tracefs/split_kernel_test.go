package tracefs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelSplitEvents checks that each hit counts once if sites are split into several events. The sites are NOPs
// that this process executes one after the other, followed by a RET.
func TestKernelSplitEvents(t *testing.T) {
	fs := tracetest.Kernel(t)
	if !fs.Features().Append {
		t.Skip("events have one site each")
	}
	const sites, perEvent, calls = 6007, 3004, 3
	file := filepath.Join(t.TempDir(), "nops")
	nop, ret := []byte{0x90}, []byte{0xc3}
	if runtime.GOARCH == "arm64" {
		nop, ret = []byte{0x1f, 0x20, 0x03, 0xd5}, []byte{0xc0, 0x03, 0x5f, 0xd6}
	}
	fixture.NoError(t, os.WriteFile(file, append(bytes.Repeat(nop, sites), ret...), 0o755))
	f, err := os.Open(file)
	fixture.NoError(t, err)
	defer f.Close()
	code, err := syscall.Mmap(int(f.Fd()), 0, sites*len(nop)+len(ret), syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
	fixture.NoError(t, err)
	defer syscall.Munmap(code)

	var events []tracefs.Event
	for i := range sites {
		if i%perEvent == 0 {
			events = append(events, tracefs.Event{Name: fmt.Sprintf("nops%d_%d", len(events), os.Getpid()), Filter: "common_pid == 1 && common_pid == 2"})
		}
		e := &events[len(events)-1]
		e.Sites = append(e.Sites, uint64(i*len(nop)))
	}
	if len(events) < 2 {
		t.Fatalf("%d sites are in one event", sites)
	}
	s, err := tracefs.Start(t.Context(), fs, tracefs.Target{Path: file}, events, tracefs.Options{Quiet: true})
	fixture.NoError(t, err)
	// A func value points to the address of its code.
	entry := unsafe.SliceData(code)
	value := &entry
	run := *(*func())(unsafe.Pointer(&value))
	for range calls {
		run()
	}
	hits, err := s.Profile()
	if err != nil {
		t.Error(err)
	}
	for i := range hits {
		for j, n := range hits[i] {
			if n != calls {
				t.Errorf("event %d, site %d: hit %d times, want %d", i, j, n, calls)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	run() // a remaining breakpoint would end this process
}
