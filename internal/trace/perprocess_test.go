package trace

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
)

// rowsText is "FUNCTION PID CALLS=COMPLETED+UNWOUND+OPEN+LOST" of each row.
func rowsText(rows []stats.Function) (out []string) {
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %d %d=%d+%d+%d+%d", r.Name, r.PID, r.Calls, r.Completed, r.Unwound, r.Open, r.Lost))
	}
	return out
}

func TestPerProcess(t *testing.T) {
	p := &perProcess{blank: []stats.Function{{Name: "f", Latency: &stats.Histogram{}}, {Name: "g", Func: 1, Latency: &stats.Histogram{}}}, of: make(map[int]map[int]int)}
	call := func(pid, fn int, how pairing.Outcome) {
		p.row(pid, fn).Calls++
		addOutcome(p.row(pid, fn), &pairing.Call{Outcome: how})
	}
	call(7, 1, pairing.Returned)
	call(7, 0, pairing.Returned)
	call(8, 1, pairing.Open)
	call(7, 1, pairing.Unwound)
	delete(p.of, 7)
	call(7, 1, pairing.Returned) // another process of its number
	// The kernel has counted one more call of g, and knows all ends.
	all := []stats.Function{{Calls: 1, Completed: 1}, {Calls: 5, Completed: 2, Unwound: 1, Open: 1}}
	want := "[g 7 2=1+1+0+0 f 7 1=1+0+0+0 g 8 1=0+0+1+0 g 7 1=1+0+0+0 g 0 1=0+0+0+1]"
	for range 2 { // rows stay where they are
		if got := fmt.Sprint(rowsText(p.reconcile(all))); got != want {
			t.Errorf("rows\n%s\nwant\n%s", got, want)
		}
	}
	// The return of what seemed unwound was lost.
	all[1].Unwound, all[1].Lost = 0, 2
	want = "[g 7 2=1+0+0+1 f 7 1=1+0+0+0 g 8 1=0+0+1+0 g 7 1=1+0+0+0 g 0 1=0+0+0+1]"
	if got := fmt.Sprint(rowsText(p.reconcile(all))); got != want {
		t.Errorf("rows\n%s\nwant\n%s", got, want)
	}
}

// TestPerProcessBounded: thousands of short processes make no more rows than a thousand.
func TestPerProcessBounded(t *testing.T) {
	p := &perProcess{blank: []stats.Function{{Name: "f"}}, of: make(map[int]map[int]int)}
	const n = maxProcesses + 700
	for pid := 1; pid <= n; pid++ {
		p.row(pid, 0).Calls += 2
		delete(p.of, pid)
	}
	rows := p.reconcile([]stats.Function{{Calls: 2 * n}})
	if len(rows) != maxProcesses+1 || len(p.of) != 1 {
		t.Fatalf("%d rows, %d known processes", len(rows), len(p.of))
	}
	if last := rows[len(rows)-1]; last.PID != 0 || last.Calls != 2*700 {
		t.Errorf("the others: %+v", last)
	}
}
