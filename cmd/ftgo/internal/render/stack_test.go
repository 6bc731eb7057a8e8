package render

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// stacks returns the stacks of two functions, with inlined callers, unknown callers and hostile names.
func stacks() []stats.StackRow {
	at := func(addr uint64, frames ...offsets.Frame) stats.Location {
		return stats.Location{Addr: addr, Frames: frames}
	}
	get := at(0x1000, offsets.Frame{Function: "main.get", File: "/src/store.go", Line: 10})
	pairs := at(0x2000, offsets.Frame{Function: "main.pair[go.shape.struct { A int; B int }]", File: "/src/store.go", Line: 20})
	handle := at(0x3010, offsets.Frame{Function: "main.lookup", File: "/src/store.go", Line: 31}, offsets.Frame{Function: "main.handle", File: "/src/server.go", Line: 42})
	again := at(0x3020, offsets.Frame{Function: "main.lookup", File: "/src/store.go", Line: 33}, offsets.Frame{Function: "main.handle", File: "/src/server.go", Line: 43})
	root := at(0x4000, offsets.Frame{Function: "runtime.goexit", File: "/go/src/runtime/asm_amd64.s", Line: 1771})
	evil := at(0x5000, offsets.Frame{Function: "main.\x1b[31m\n;f 7", File: "/src/\x1b]0;.go", Line: 1})
	bare := at(0x6000, offsets.Frame{Function: "main.nofile"})
	return []stats.StackRow{
		{Func: 0, Calls: 600, Completed: 600, Min: 900, Max: 10_000, Sum: 1_200_000, Self: 1_000_000, Function: "main.get", At: get, Callers: []stats.Location{handle, root}},
		{Func: 0, Calls: 7, Completed: 5, Unwound: 1, Open: 1, Min: 1, Max: 1, Sum: 5, Self: 5, Function: "main.get", At: get, Callers: []stats.Location{again, root}},
		{Func: 0, Calls: 1, Unwound: 1, Function: "main.get", At: get, Callers: []stats.Location{bare, {}, evil, {}}},
		{Func: 1, Calls: 23, Completed: 23, Min: 1, Max: 2, Sum: 30, Self: 30, Function: "main.pair[go.shape.struct { A int; B int }]", At: pairs, Callers: []stats.Location{root}},
	}
}

// allocated returns allocations, of which some can't be right.
func allocated() []stats.Allocations {
	root := stats.Location{Addr: 0x2042, Frames: []offsets.Frame{{Function: "main.main", File: "/src/main.go", Line: 7}}}
	inlined := stats.Location{Addr: 0x1042, Frames: []offsets.Frame{{Function: "main.(*store).keep", File: "/src/store.go", Line: 5}, {Function: "main.pair[go.shape.struct { A int; B int }]", File: "/src/store.go", Line: 9}}}
	return []stats.Allocations{
		{Stack: []stats.Location{inlined, root}, Size: 48, Values: [4]int64{123456, 5925888, 100, 4800}},
		{Stack: []stats.Location{root}, Values: [4]int64{9, 900, 4, 400}},
		{Stack: []stats.Location{{Addr: 1, Frames: []offsets.Frame{{Function: "\x1b[31mred"}}}}, Values: [4]int64{-1, -5000, math.MinInt64, math.MinInt64}},
		{Stack: []stats.Location{{}}, Size: math.MaxInt64, Values: [4]int64{1, math.MaxInt64, 1, math.MaxInt64}},
	}
}

func allocations(o AllocationOptions) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error { return Allocations(b, allocated(), o) }
}

// pprofStacks writes the text of the profile of stacks, after parsing the profile.
func pprofStacks(b *bytes.Buffer, stacks []stats.StackRow) error {
	run := Profiled{Path: "/bin/server", BuildID: "abc", Start: 0x1000, Limit: 0x9000, Offset: 0x1000, Began: time.Unix(1_700_000_000, 7), Duration: 3 * time.Second}
	var text bytes.Buffer
	if err := PprofStacks(&text, stacks, run); err != nil {
		return err
	}
	p, err := profile.Parse(&text)
	if err != nil {
		return err
	}
	began := p.TimeNanos
	p.TimeNanos = 0 // its text would depend on the time zone
	_, err = fmt.Fprintf(b, "Began: %d\n%s", began, p)
	return err
}

// TestProfiledPath checks that a profile of a process names the program's file, not its link in /proc.
func TestProfiledPath(t *testing.T) {
	b, err := offsets.Open("/proc/self/exe")
	fixture.NoError(t, err)
	defer b.Close()
	want, err := os.Executable()
	if p := NewProfiled(b, b.Funcs()[0].Addr, time.Now()); err != nil || p.Path != want {
		t.Errorf("path %q, want %q (%v)", p.Path, want, err)
	}
}
