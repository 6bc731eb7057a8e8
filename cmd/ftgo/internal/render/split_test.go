package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestFunctionSplits: what latencies were spent with, in each format; nothing of functions
// without one.
func TestFunctionSplits(t *testing.T) {
	h := &stats.Histogram{}
	h.Record(6e6)
	h.Record(4e6)
	rows := []stats.Func{
		{Name: "main.mixed", Calls: 2, Completed: 2, Latency: h, Split: stats.Split{Running: 2e6, Runnable: 3e6, Waiting: 5e6}, Waits: stats.Waits{"sleep": 4e6, "select": 1e6}, Seconds: 1},
		{Name: "main.open", Calls: 1, Open: 1, Latency: &stats.Histogram{}, Seconds: 1},
	}
	for format, want := range map[Format][]string{
		Table: {"  RUN%  RUNNABLE%  WAIT%  OPEN  WAITS FOR\n", "   20%        30%    50%     0  sleep, select\n", "     -          -      -     1  -\n"},
		CSV:   {",sum_ns,running_ns,runnable_ns,waiting_ns,", ",10000000,2000000,3000000,5000000,", "main.open,1,0,0,1,0,1.000,,,,,,,,,,,"},
		JSON:  {`"sum":10000000},"sched":{"running":2000000,"runnable":3000000,"waiting":5000000,"waits":{"sleep":4000000,"select":1000000}},`, `"open":1,"lost":0,"rate":1}`},
	} {
		var b bytes.Buffer
		fixture.NoError(t, Functions(&b, rows, Options{Format: format, Latency: true, Sched: true}))
		for _, part := range want {
			if !strings.Contains(b.String(), part) {
				t.Errorf("%s: no %q in\n%s", format, part, b.String())
			}
		}
	}
}

func TestCallSplits(t *testing.T) {
	returned := &Line{Function: "main.f", Thread: Thread{Goid: 7}, NS: 10_000, Split: stats.Split{Running: 2000, Waiting: 8000}, Waits: stats.Waits{"chan receive": 8000}, End: "return"}
	unwound := &Line{Function: "main.f", Thread: Thread{Goid: 7}, End: "unwound"}
	for _, c := range []struct {
		line *Line
		o    Options
		want string
	}{
		{returned, Options{}, "  10.0µs  2.00µs run     0ns runnable  8.00µs wait (chan receive)  goroutine 7  main.f()\n"},
		{unwound, Options{}, "       -       - run       - runnable       - wait  goroutine 7  main.f() = unwound\n"},
		{returned, Options{Format: JSON}, `"ns":10000,"sched":{"running":2000,"runnable":0,"waiting":8000,"waits":{"chan receive":8000}},"end":"return"`},
		{unwound, Options{Format: JSON}, `"depth":0,"end":"unwound"`},
		{returned, Options{Format: TSV}, "\t10000\treturn\t{}\t{}\t2000\t0\t8000\n"},
		{unwound, Options{Format: TSV}, "\t\tunwound\t{}\t\t\t\t\n"},
	} {
		var b bytes.Buffer
		c.o.Sched = true
		w := NewCallWriter(&b, c.o)
		fixture.NoError(t, w.Header())
		fixture.NoError(t, w.Line(c.line))
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%+v: no %q in\n%s", c.o, c.want, b.String())
		}
		if lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"); c.o.Format == TSV && (len(lines) != 2 || strings.Count(lines[0], "\t") != strings.Count(lines[1], "\t")) {
			t.Errorf("columns of %q", lines)
		}
	}
}

func TestTreeSplits(t *testing.T) {
	var b bytes.Buffer
	w := NewCallWriter(&b, Options{Sched: true})
	line := Line{Function: "main.f", Thread: Thread{Goid: 7}, NS: 10_000, Split: stats.Split{Running: 2000, Waiting: 8000}, End: "return"}
	fixture.NoError(t, w.Tree(&Tree{First: &line, Lines: []*Line{&line, {Function: "main.g", Level: 1}}}))
	for _, want := range []string{
		"\n  10.0µs   100%  2.00µs run     0ns runnable  8.00µs wait  main.f()\n",
		"\n       …      -       - run       - runnable       - wait    main.g(…)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
