package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// someGoroutines are groups of every kind.
func someGoroutines() []stats.Goroutines {
	at := func(addr uint64, names ...string) (l stats.Location) {
		for i, name := range names {
			l.Frames = append(l.Frames, offsets.Frame{Function: name, File: "/src/a.go", Line: i + 1})
		}
		l.Addr = addr
		return l
	}
	deep := []stats.Location{at(1, "runtime.gopark")}
	for i := range 103 {
		deep = append(deep, at(uint64(i+2), fmt.Sprintf("main.f%d", i)))
	}
	return []stats.Goroutines{
		{State: "chan receive", Members: []stats.Goroutine{{ID: 7, Parent: 1, Waited: int64(time.Minute), Stated: int64(2 * time.Minute)}, {ID: 9}}, Compared: true, Change: 1,
			Creator: offsets.Frame{Function: "main.main", File: "/src/m.go", Line: 3}, Stack: []stats.Location{at(1, "runtime.gopark"), at(2, "main.inlined", "main.Get[go.shape.int]")}},
		{State: "running", Members: []stats.Goroutine{{ID: 2}}, Locked: true, Compared: true, Change: 1, Creator: offsets.Frame{Function: "main.\x1b]0;", File: "/src/\n.go", Line: 4}},
		{State: "syscall", Members: []stats.Goroutine{{ID: 1}}, Compared: true, Stack: []stats.Location{at(1, "syscall.read"), {}}},
		{State: "sleep", Members: []stats.Goroutine{{ID: 20}}, Compared: true, Change: -2, Stack: deep},
		{State: "select", Compared: true, Change: -4, Stack: []stats.Location{at(1, "runtime.only")}},
	}
}

func TestGoroutineText(t *testing.T) {
	var table, dump bytes.Buffer
	if err := GoroutineText(&table, someGoroutines(), 60); err != nil {
		t.Fatal(err)
	}
	if err := GoroutineDump(&dump, someGoroutines()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{table.String(), "       2 goroutines  +1  chan receive ≥1m0s  created by main.main m.go:3\n        main.inlined a.go:1\n        main.Get[go.shape.int] a.go:2\n" +
			"       1 goroutine  +1  running, locked to thread  created by main.\\x1b]0; \\x0a.go:4\n" +
			"       1 goroutine  +0  syscall\n        syscall.read a.go:1\n        …\n"},
		{table.String(), "       1 goroutine  -2  sleep\n        main.f0 a.go:1\n"}, {table.String(), "main.f49 a.go:1\n        ...3 frames elided...\n        main.f53 a.go:1\n"},
		{table.String(), "       0 goroutines  -4  select\n        runtime.only a.go:1\n"},
		{dump.String(), "goroutine 1 [syscall]:\nsyscall.read(...)\n\t/src/a.go:1\n...additional frames elided...\n\n" +
			"goroutine 2 [running, locked to thread]:\n\tgoroutine running on other thread; stack unavailable\ncreated by main.\\x1b]0;\n\t/src/\\x0a.go:4\n\n" +
			"goroutine 7 [chan receive, 2 minutes]:\nmain.inlined(...)\n\t/src/a.go:1\nmain.Get[...](...)\n\t/src/a.go:2\ncreated by main.main in goroutine 1\n\t/src/m.go:3\n\n" +
			"goroutine 9 [chan receive]:\n"},
		{dump.String(), "main.f49(...)\n\t/src/a.go:1\n...3 frames elided...\nmain.f53(...)\n"},
	} {
		if !strings.Contains(c.in, c.want) {
			t.Errorf("no\n%s\nin\n%s", c.want, c.in)
		}
	}
}

func TestGoroutineStacks(t *testing.T) {
	var folded, prof bytes.Buffer
	if err := FoldedStacks(&folded, GoroutineStacks(someGoroutines()), ""); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"main.Get[go.shape.int];main.inlined;runtime.gopark;[chan receive] 2\n", "\n[running] 1\n", "…;syscall.read;[syscall] 1\n"} {
		if !strings.Contains(folded.String(), line) {
			t.Errorf("no %q in\n%s", line, folded.String())
		}
	}
	if err := PprofStacks(&prof, GoroutineStacks(someGoroutines()), Profiled{Type: "goroutine"}); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&prof)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, s := range p.Sample {
		sum += s.Value[0]
	}
	if sum != 5 || len(p.SampleType) != 1 || p.SampleType[0].Type != "goroutine" {
		t.Errorf("%d goroutines, %v", sum, p.SampleType)
	}
}
