package stats

import (
	"fmt"
	"testing"
)

// rowsText returns FUNCTION VALUE CALLS=COMPLETED+UNWOUND+OPEN+LOST for each row.
func rowsText(rows []Func) (out []string) {
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %s %d=%d+%d+%d+%d", r.Name, r.Value, r.Calls, r.Completed, r.Unwound, r.Open, r.Lost))
	}
	return out
}

// TestPartsReconciled checks that Reconcile adds a row for calls that are missing in the rows of values.
func TestPartsReconciled(t *testing.T) {
	p := NewValueRows([]Func{{Name: "f", Latency: &Histogram{}}, {Name: "g", Func: 1, Latency: &Histogram{}}})
	call := func(value string, fn int, how string) {
		row := p.Row(RowKey{Value: value, Func: fn})
		row.Calls++
		*map[string]*uint64{"returned": &row.Completed, "unwound": &row.Unwound, "open": &row.Open}[how]++
	}
	call("x", 1, "returned")
	call("x", 0, "returned")
	call("y", 1, "open")
	call("x", 1, "unwound")
	// The kernel has counted one more call of g, and knows all ends.
	all := []Func{{Calls: 1, Completed: 1}, {Calls: 4, Completed: 1, Unwound: 1, Open: 1}}
	want := "[g x 2=1+1+0+0 f x 1=1+0+0+0 g y 1=0+0+1+0 g lost 1=0+0+0+1]"
	for range 2 { // a second call must not change anything
		if got := fmt.Sprint(rowsText(p.Reconcile(all, true))); got != want {
			t.Errorf("rows\n%s\nwant\n%s", got, want)
		}
	}
	// The return of the call that seems unwound was lost.
	all[1].Unwound, all[1].Lost = 0, 2
	want = "[g x 2=1+0+0+1 f x 1=1+0+0+0 g y 1=0+0+1+0 g lost 1=0+0+0+1]"
	if got := fmt.Sprint(rowsText(p.Reconcile(all, true))); got != want {
		t.Errorf("rows\n%s\nwant\n%s", got, want)
	}
}

// TestPartsOfNothing checks that a function without calls has a row in the last table, for --fail-if.
func TestPartsOfNothing(t *testing.T) {
	p := NewValueRows([]Func{{Name: "f"}, {Name: "g", Func: 1}})
	p.Row(RowKey{Func: 1, Value: "v"}).Calls++
	want := "[g v 1=0+0+0+0 f  0=0+0+0+0]"
	for range 2 {
		if got := fmt.Sprint(rowsText(p.Reconcile([]Func{{}, {Calls: 1}}, true))); got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
	}
}

// TestHugeWeights checks that a value whose weight exceeds 64 bits keeps its row.
func TestHugeWeights(t *testing.T) {
	p := NewValueRows([]Func{{Name: "f"}})
	add := func(value string, weight uint64) {
		row := p.Row(RowKey{Value: value})
		row.Calls++
		p.AddWeight(row, weight)
	}
	for range 4 {
		add("heavy", 1<<62)
	}
	for i := range 2 * MaxValues {
		add(fmt.Sprint(i), 1000)
	}
	add("heavy", 1)
	if heavy := p.rows[RowKey{Value: "heavy"}]; heavy.Calls != 5 || heavy.Missed != 0 {
		t.Errorf("%+v", heavy.Func)
	}
}
