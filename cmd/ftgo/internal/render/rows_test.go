package render

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func counted() []stats.Func {
	return []stats.Func{
		{Name: "main.hot", Calls: 900000007, Seconds: 10},
		{Name: "github.com/prometheus/client_golang/prometheus/promhttp.(*responseWriterDelegator).Write", Calls: 23, Seconds: 10},
		{Name: "main.never", Seconds: 10},
	}
}

// splitRows returns functions with and without split latencies.
func splitRows() []stats.Func {
	return []stats.Func{
		{Name: "main.mixed", Calls: 2, Completed: 2, Latency: histogram(6e6, 4e6), Split: stats.Split{Running: 2e6, Runnable: 3e6, Waiting: 5e6}, Waits: stats.Waits{"sleep": 4e6, "select": 1e6}, Seconds: 1},
		{Name: "main.open", Calls: 1, Open: 1, Latency: &stats.Histogram{}, Seconds: 1},
	}
}

func splitLine() Line {
	return Line{
		Function: "main.f", Thread: Thread{Goid: 7}, NS: 10_000, End: "return",
		Split: stats.Split{Running: 2000, Waiting: 8000}, Waits: stats.Waits{"chan receive": 8000},
	}
}

// stacked returns calls with callers, some with hostile names.
func stacked() []Line {
	c, deep := get(), get()
	c.Stack, deep.Stack = stacks()[0].Callers, stacks()[2].Callers
	return []Line{c, deep}
}

var eventNames = []string{"a:never", "a:second", "b:third", "b:rare1", "b:rare2", "b:rare3", "c:last"}

func withEvents() []stats.Func {
	return []stats.Func{
		{Name: "main.f", Calls: 4, Events: map[string]uint64{"a:second": 2, "b:third": 8, "b:rare1": 1, "b:rare2": 1, "b:rare3": 1, "c:last": 5}, Seconds: 10},
		{Name: "main.g", Calls: 3, Events: map[string]uint64{"b:third": 1}, Seconds: 10},
		{Name: "main.never", Seconds: 10},
	}
}

func listed() []target.Listed {
	first, second, third := inFile("main.(*Store).Get", 0x4a1b20, 312, 3, 0), inFile("github.com/a/b/c/pkg.(*VeryLongTypeName).VeryLongMethodName", 0x4a1c60, 96, 1, 2), inFile("runtime.memmove", 0x47f0a0, 1500, 9, 1)
	first.File, first.Line, first.Sites.Check = "/src/store/store.go", 42, &offsets.Site{}
	third.ABI, third.Note = offsets.ABI0, "entry only: undecodable byte at +0x1a"
	return []target.Listed{first, second, third}
}

func inFile(name string, addr, size uint64, returns, tails int) target.Listed {
	sites := &offsets.Sites{Returns: make([]offsets.Site, returns), Tails: make([]offsets.Site, tails)}
	return target.Listed{Func: offsets.Func{Name: name, Addr: addr, Size: size}, Sites: sites, Offset: addr - 0x400000}
}

// inlinedRows returns a function that was always inlined, one that also has code of its own, and an instruction.
func inlinedRows() []target.Listed {
	grow, double, line := inFile("main.grow", 0, 0, 0, 0), inFile("main.double", 0x4a1b20, 32, 1, 0), inFile("store.go:42", 0x4a1b2a, 0, 0, 0)
	grow.Offset, grow.Err, grow.Note = 0, io.EOF, "no code of its own: inlined at 1 place: main.f main.go:16"
	grow.Inlined = []offsets.Frame{{Function: "main.f", File: "/src/main.go", Line: 16}}
	double.File, double.Line, double.Note = "/src/main.go", 9, "calls not seen: also inlined at 2 places"
	double.Inlined = []offsets.Frame{{Function: "main.f", File: "/src/main.go", Line: 17}, {Function: "main.g"}}
	line.File, line.Line, line.ABI, line.Point = "/src/store.go", 42, offsets.ABI0, true
	return []target.Listed{grow, double, line}
}

// treesJSON writes trees, and a call outside of trees. Calls and events follow their tree.
func treesJSON(b *bytes.Buffer) error {
	at := time.Unix(1, 2)
	thread := Thread{Goid: 7, PID: 3, TID: 4, CPU: 1}
	call := &Line{Function: "main.f", Thread: thread, Time: at, NS: 9, End: "return"}
	branch := &Line{Function: "main.g", Thread: Thread{Goid: 8, PID: 3, TID: 5}, Time: at, End: "open", Level: 1, Branch: true, Outlived: 5}
	event := &Line{Time: at, Event: "a:b", Thread: thread, Level: 1}
	goesOn := &Line{Thread: Thread{Goid: 8}, Level: 1, Branch: true, GoesOn: true}
	trees := []*Tree{
		{First: call, Root: call, Took: 9, LeftOut: 2, Lines: []*Line{call, event, branch, goesOn}},
		{First: branch, Root: branch, Took: 10, Continued: true, Origin: &Line{Function: "main.f", Thread: thread}},
	}
	w := NewCallWriter(b, LineOptions{Style: Style{Format: JSON}})
	return errors.Join(w.Tree(trees[0]), w.Tree(trees[1]), w.Line(call))
}

// TestEventLine checks that an event is one printable line, even if its program has a hostile name.
func TestEventLine(t *testing.T) {
	e := &Line{
		Time: time.Unix(1, 2).UTC(), Event: "sched:sched_switch", GoidKnown: true, Function: "main.f", Thread: Thread{Goid: 7, PID: 3, TID: 4, CPU: 1},
		Fields: []parse.Field{
			{Name: "prev_comm", Text: []byte("a b=\"\n\x1b[2J\xff")}, {Name: "prev_state", Num: ^uint64(0), Signed: true},
			{Name: "buf", Num: 0xc000, Hex: true}, {Name: "addr", Bytes: []byte{127, 1}}, {Name: "none", Text: []byte{}},
		},
	}
	for _, c := range []struct {
		o    LineOptions
		want string
	}{
		{LineOptions{}, `   event  goroutine 7  main.f  thread 4 cpu 1  sched:sched_switch prev_comm="a b=\"\n\x1b[2J\xff" prev_state=-1 buf=0xc000 addr=7f01 none=""`},
		{LineOptions{Times: true, Processes: true}, `00:00:01.000000    event  pid 3 goroutine 7  main.f  thread 4 cpu 1  sched:sched_switch `},
		{LineOptions{Style: Style{Format: JSON}}, `{"type":"event","time":"1970-01-01T00:00:01.000000002Z","name":"sched:sched_switch","pid":3,"tid":4,"cpu":1,"goid":7,"function":"main.f",` +
			`"fields":{"prev_comm":"a b=\"\n\u001b[2J�","prev_state":-1,"buf":"0xc000","addr":"7f01","none":""}}`},
	} {
		var b bytes.Buffer
		fixture.NoError(t, NewCallWriter(&b, c.o).Line(e))
		if got := b.String(); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%+v:\n%s\nwant\n%s", c.o, got, c.want)
		}
	}
}

// TestWriteErrors checks that writers of calls and profiles return the error of the underlying writer.
func TestWriteErrors(t *testing.T) {
	errs := map[string]error{
		"header": NewCallWriter(brokenWriter{}, LineOptions{Style: Style{Format: CSV}}).Header(), "profile": PprofStacks(brokenWriter{}, stacks(), Profiled{}),
	}
	for _, f := range []Format{Table, JSON, CSV, TSV} {
		c := get()
		errs["call as "+f.String()] = NewCallWriter(brokenWriter{}, LineOptions{Style: Style{Format: f}}).Line(&c)
	}
	for name, err := range errs {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
