package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// stacks are those of two functions, with inlined callers, unknown ones, and names that
// want to be more.
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

// TestPprofStacks reads the profile back.
func TestPprofStacks(t *testing.T) {
	var b bytes.Buffer
	began := time.Unix(1_700_000_000, 7)
	run := Profiled{Path: "/bin/server", BuildID: "abc", Start: 0x1000, Limit: 0x9000, Offset: 0x1000, Began: began, Duration: 3 * time.Second}
	fixture.NoError(t, PprofStacks(&b, stacks(), run))
	p, err := profile.Parse(&b)
	fixture.NoError(t, err)
	if m := p.Mapping[0]; m.File != "/bin/server" || m.BuildID != "abc" || m.Start != 0x1000 || m.Limit != 0x9000 || m.Offset != 0x1000 || !m.HasInlineFrames {
		t.Errorf("mapping %+v", m)
	}
	if p.TimeNanos != began.UnixNano() || p.DurationNanos != 3e9 {
		t.Errorf("began at %d, lasted %d", p.TimeNanos, p.DurationNanos)
	}
	var got []string
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
		}
		got = append(got, strings.Join(names, " "))
	}
	want := []string{
		"main.get main.lookup main.handle runtime.goexit", "main.get main.lookup main.handle runtime.goexit",
		`main.get main.nofile … main.\x1b[31m\x0a;f 7 …`, "main.pair[go.shape.struct { A int; B int }] runtime.goexit",
	}
	if !slices.Equal(got, want) {
		t.Errorf("stacks\n%q, want\n%q", got, want)
	}
	if v := p.Sample[0].Value; v[0] != 600 || v[1] != 1_000_000 {
		t.Errorf("values %d", v)
	}
	if len(p.Location) != 8 || len(p.Function) != 8 {
		t.Errorf("%d locations and %d functions, want 8 and 8", len(p.Location), len(p.Function))
	}
	b.Reset()
	waited := stacks()[:1]
	waited[0].Runnable = 600_000
	fixture.NoError(t, PprofStacks(&b, waited, run))
	if p, err = profile.Parse(&b); err != nil {
		t.Fatal(err)
	}
	own, runnable := p.Sample[0], p.Sample[1]
	if own.Value[0] != 600 || own.Value[1] != 400_000 || runnable.Value[0] != 0 || runnable.Value[1] != 600_000 ||
		runnable.Location[0].Line[0].Function.Name != "[runnable]" || !slices.Equal(runnable.Location[1:], own.Location) {
		t.Errorf("samples %v, want what was runnable to be a frame of its own", p.Sample)
	}
	if err := PprofStacks(brokenWriter{}, stacks(), run); err == nil {
		t.Error("no error where nothing can be written")
	}
}
