package view

import (
	"testing"

	"github.com/ftgo/ftgo/internal/stats"
)

func TestFailIf(t *testing.T) {
	slow := stats.Func{Name: "main.slow", Calls: 3, Completed: 3, Latency: new(stats.Histogram), Seconds: 2}
	for range 3 {
		slow.Latency.Record(12e6)
	}
	never := stats.Func{Name: "main.never"}
	for _, c := range []struct{ expr, want string }{
		{"p99 > 10ms", "p99 > 10ms: true of main.slow (p99 12.0ms)"},
		{"p99 > 20ms", ""},
		{"p95 > 10ms && p999 > 10ms", "p95 > 10ms && p999 > 10ms: true of main.slow (p95 12.0ms, p999 12.0ms)"},
		{"calls == 0", "calls == 0: true of main.never (calls 0)"},
		{"calls >= 0", "calls >= 0: true of main.slow (calls 3), and of 1 more"},
		{"calls == 3 && max < 1s", "calls == 3 && max < 1s: true of main.slow (calls 3, max 12.0ms)"},
		{"calls == 0 && p50 < 1h", ""}, // an unknown number makes the condition unknown
		{"calls == 0 || p50 < 1ns", "calls == 0 || p50 < 1ns: true of main.never (calls 0, p50 not known)"},
	} {
		var o Options
		var err error
		o.FailIf, err = failIfForm.Read(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		got := ""
		if err := o.failIf([]stats.Func{slow, never}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.expr, got, c.want)
		}
	}
	for _, expr := range []string{"p99", "p9 > 1ms", "p1234567 > 1ms", "pxy > 1", "p99 > ", `p99 > "x"`} {
		if _, err := failIfForm.Read(expr); err == nil {
			t.Errorf("%q is taken", expr)
		}
	}
}
