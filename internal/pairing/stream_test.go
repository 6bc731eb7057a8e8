package pairing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// line returns a line of trace_pipe for an event of testPlan on goroutine 1.
func line(event, pid int, time, addr, depth uint64) string {
	args := fmt.Sprintf("sp=%d g=49152 hi=1048576 lo=1015808", 1048576-depth)
	if event == 0 {
		args += " id=1"
	}
	return fmt.Sprintf("          prog-%d     (%7d) [000] d..ff %d: event%d_0123456789abcdef: (0x%x) %s\n", pid, pid, time, event, addr, args)
}

// named returns a line for an event of a thread with this name.
func named(name string) string {
	return fmt.Sprintf("%16s-7       (      7) [000] d..ff 5: event0_0123456789abcdef: (0x1001) sp=5 g=49152 hi=1048576 lo=1015808 id=1\n", name)
}

// relocatablePlan returns testPlan for a program whose load bias an entry of f does not show: another entry has the same
// offset in its page.
func relocatablePlan() *uprobe.Plan {
	plan := testPlan()
	plan.Relocatable = true
	plan.Events[0].Sites = append(plan.Events[0].Sites, uprobe.Site{Addr: 0x9000})
	return plan
}

func TestStream(t *testing.T) {
	const bias = 0x550000000000
	both := line(0, 7, 10, 0x1000, 100) + line(2, 7, 30, 0x3000, 100)
	for _, c := range []struct {
		name  string
		of    Options
		text  string
		calls string
		check func(*Stream) bool
	}{
		{"one call", Options{}, both, "f 10-30", nil},
		{"late line in its place", Options{}, line(0, 7, 10, 0x1000, 100) + line(2, 7, 30, 0x3000, 100) + line(0, 7, 20, 0x1001, 200) + line(2, 7, 40, 0x3001, 200), "g 20-30 f 10-30", nil},
		{"what is no line of ours", Options{}, "a line of nonsense\n" + both, "f 10-30", func(s *Stream) bool { return s.Counts(Counters{}).Unparsed == 1 }},
		{"newlines in a thread's name", Options{}, named("a\nb") + both + named("\n") + named("\n# x\n") + named("\r\n-7"), "g 5-5 g 5-5 g 5-5 f 10-30 g 5-0", func(s *Stream) bool { return s.Counts(Counters{}).Unparsed == 0 }},
		{"lost events", Options{}, "CPU:1 [LOST 5 EVENTS]\n" + both, "f 10-30", func(s *Stream) bool { return s.Counts(Counters{}).Unparsed == 0 }},
		{"a last line without its end", Options{}, both + "     prog-7 [0", "f 10-30", func(s *Stream) bool { return s.Counts(Counters{}).Unparsed == 1 }},
		{"processes that are not wanted", Options{Of: func(_, pid int) (int, bool) { return pid, pid == 8 }}, both, "", func(s *Stream) bool { return s.account.delivered() == 0 }},
		{"bias", Options{}, line(0, 7, 10, 0x1001+bias, 100) + line(2, 7, 30, 0x3001+bias, 100), "g 10-30", nil},
		{"bias that only the second address tells", Options{}, line(0, 7, 10, 0x1000+bias, 100) + line(2, 7, 30, 0x3000+bias, 100), "f 10-30", func(s *Stream) bool { return s.Counts(Counters{}).Unparsed == 0 }},
		{"bias that nothing tells", Options{}, line(0, 7, 10, 0x1000+bias, 100), "", func(s *Stream) bool { return s.Counts(Counters{}).Unparsed == 1 }},
		{"process found by the thread", Options{Of: func(tid, _ int) (int, bool) { return tid + 1, true }},
			strings.ReplaceAll(both, "(      7)", "(-------)"), "f 10-30", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := testPlan()
			if strings.HasPrefix(c.name, "bias") {
				plan = relocatablePlan()
			}
			var calls []string
			var src piecewise
			for text := range slices.Chunk([]byte(strings.ReplaceAll(c.text, `\n`, "\n")), 50) {
				src = append(src, string(text))
			}
			s := open(t, plan, &src, c.of)
			readAll(t, s, told(&calls, func(c *Call) string { return fmt.Sprintf("%s %d-%d", testFuncs[c.Func].name, c.Start, c.End) }))
			if got := strings.Join(calls, " "); got != c.calls {
				t.Errorf("calls %q, want %q", got, c.calls)
			}
			if c.check != nil && !c.check(s) {
				t.Errorf("unparsed %d, %+v", s.Counts(Counters{}).Unparsed, s.account)
			}
		})
	}
}

// TestPendingForgotten checks that events of a process whose bias is unknown are dropped with the process and are not
// paired with events of the next process with the same PID, and that their number is limited.
func TestPendingForgotten(t *testing.T) {
	const bias = 0x550000000000
	var calls []string
	s := open(t, relocatablePlan(), &piecewise{}, Options{})
	take := told(&calls, spanned)
	s.yield = take
	s.take(&parse.Event{Format: 0, PID: 7, TID: 7, Time: 10, Addr: 0x1000 + bias, Args: []uint64{900, 49152, 1000, 0, 1}})
	if got := s.Processes(); !slices.Equal(got, []int{7}) {
		t.Fatalf("processes %v, want 7: nobody forgets it", got)
	}
	for it := range s.Forget(map[int]bool{7: true}) {
		take(it)
	}
	s.take(&parse.Event{Format: 2, PID: 7, TID: 7, Time: 30, Addr: 0x3000 + bias, Args: []uint64{900, 49152, 1000, 0}})
	if got := s.Processes(); len(calls) > 0 || !slices.Equal(got, []int{7}) || s.Counts(Counters{}).Unparsed != 1 {
		t.Errorf("calls %v, processes %v, %d unparsed; want none, 7 and 1", calls, got, s.Counts(Counters{}).Unparsed)
	}
	for i := range 10 * maxPending {
		s.take(&parse.Event{Format: 0, PID: 8, TID: 8, Time: uint64(40 + i), Addr: 0x1000 + bias, Args: []uint64{900, 49152, 1000, 0, 1}})
	}
	if n := len(s.known[8].pending); n >= maxPending || s.Counts(Counters{}).Unparsed != 1+10*maxPending {
		t.Errorf("%d events are kept, %d were told to be of no known address", n, s.Counts(Counters{}).Unparsed)
	}
}

// TestStalest checks that Stalest returns the processes without recent events, also if their bias is unknown.
func TestStalest(t *testing.T) {
	s := open(t, relocatablePlan(), &piecewise{}, Options{})
	for i, pid := range []int{1, 2, 3, 4, 1} {
		addr := map[bool]uint64{true: 0x1000, false: 0x1001}[pid == 2]
		s.take(&parse.Event{Format: 0, PID: pid, TID: pid, Time: uint64(10 + i), Addr: addr, Args: []uint64{900, 49152, 1000, 0, 1}})
	}
	if got := s.Stalest(2); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("%v, want 2 and 3", got)
	}
	if got := s.Stalest(9); len(got) > 0 {
		t.Errorf("%v of four", got)
	}
}
