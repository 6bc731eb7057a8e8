package stats

import (
	"fmt"
	"testing"
)

// rowsText is "FUNCTION PID CALLS=COMPLETED+UNWOUND+OPEN+LOST" of each row.
func rowsText(rows []Func) (out []string) {
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %d %d=%d+%d+%d+%d", r.Name, r.PID, r.Calls, r.Completed, r.Unwound, r.Open, r.Lost))
	}
	return out
}

func TestPerProcess(t *testing.T) {
	p := NewParts([]Func{{Name: "f", Latency: &Histogram{}}, {Name: "g", Func: 1, Latency: &Histogram{}}}, false)
	call := func(pid, fn int, how string) {
		row := p.Row(PartKey{PID: pid, Func: fn})
		row.Calls++
		*map[string]*uint64{"returned": &row.Completed, "unwound": &row.Unwound, "open": &row.Open}[how]++
	}
	call(7, 1, "returned")
	call(7, 0, "returned")
	call(8, 1, "open")
	call(7, 1, "unwound")
	p.Forget(7)
	call(7, 1, "returned") // another process of its number
	// The kernel has counted one more call of g, and knows all ends.
	all := []Func{{Calls: 1, Completed: 1}, {Calls: 5, Completed: 2, Unwound: 1, Open: 1}}
	want := "[g 7 2=1+1+0+0 f 7 1=1+0+0+0 g 8 1=0+0+1+0 g 7 1=1+0+0+0 g 0 1=0+0+0+1]"
	for range 2 { // rows stay where they are
		if got := fmt.Sprint(rowsText(p.Reconcile(all, true))); got != want {
			t.Errorf("rows\n%s\nwant\n%s", got, want)
		}
	}
	// The return of what seemed unwound was lost.
	all[1].Unwound, all[1].Lost = 0, 2
	want = "[g 7 2=1+0+0+1 f 7 1=1+0+0+0 g 8 1=0+0+1+0 g 7 1=1+0+0+0 g 0 1=0+0+0+1]"
	if got := fmt.Sprint(rowsText(p.Reconcile(all, true))); got != want {
		t.Errorf("rows\n%s\nwant\n%s", got, want)
	}
}

// TestPerProcessBounded: thousands of short processes make no more rows than a thousand.
func TestPerProcessBounded(t *testing.T) {
	p := NewParts([]Func{{Name: "f"}}, false)
	const n = MaxParts + 700
	for pid := 1; pid <= n; pid++ {
		p.Row(PartKey{PID: pid}).Calls += 2
		p.Forget(pid)
	}
	rows := p.Reconcile([]Func{{Calls: 2 * n}}, true)
	if len(rows) != MaxParts+1 || len(p.of) != 1 {
		t.Fatalf("%d rows, %d known processes", len(rows), len(p.of))
	}
	if last := rows[len(rows)-1]; last.PID != 0 || last.Calls != 2*700 {
		t.Errorf("the others: %+v", last)
	}
}

// TestPartsOfNothing: a function that nobody called has a row in the end, so that --fail-if sees it.
func TestPartsOfNothing(t *testing.T) {
	for _, byValue := range []bool{false, true} {
		p := NewParts([]Func{{Name: "f"}, {Name: "g", Func: 1}}, byValue)
		p.Row(PartKey{Func: 1, PID: 7, Value: "v"}).Calls++
		want := "[g 7 1=0+0+0+0 f 0 0=0+0+0+0]"
		for range 2 {
			if got := fmt.Sprint(rowsText(p.Reconcile([]Func{{}, {Calls: 1}}, true))); got != want {
				t.Errorf("rows %s, want %s", got, want)
			}
		}
	}
}

// TestHugeWeights: what weighs more than fits into 64 bits keeps its row.
func TestHugeWeights(t *testing.T) {
	p := NewParts([]Func{{Name: "f"}}, true)
	add := func(value string, weight uint64) {
		row := p.Row(PartKey{Value: value})
		row.Calls++
		p.Weigh(row, weight)
	}
	for range 4 {
		add("heavy", 1<<62)
	}
	for i := range 2 * MaxParts {
		add(fmt.Sprint(i), 1000)
	}
	add("heavy", 1)
	if heavy := p.of[PartKey{Value: "heavy"}]; heavy.Calls != 5 || heavy.Missed != 0 {
		t.Errorf("%+v", heavy.Func)
	}
}
