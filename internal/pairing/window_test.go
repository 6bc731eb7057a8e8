package pairing

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// windowLines has a call from 10 to 30, a call from 15 to 20 nested in it, and a call from 40 on.
var windowLines = line(0, 7, 10, 0x1000, 100) + line(0, 7, 15, 0x1001, 200) + line(2, 7, 20, 0x3001, 200) +
	line(2, 7, 30, 0x3000, 100) + line(0, 7, 40, 0x1001, 100)

// piecewise is a source that returns a text in pieces. An empty piece is an empty read.
type piecewise []string

func (p *piecewise) Read(_ context.Context, buf []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(buf, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

// TestWindow checks that events outside of the window are ignored.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name      string
		limit     uint64
		setup     func(*Stream)
		calls     string
		delivered uint64
	}{
		{"all", 0, func(*Stream) {}, "g 15-20 return, f 10-30 return, g 40-0 open", 5},
		{"its ends belong to it", 0, func(s *Stream) { s.Begin(1, 10); s.End(40) }, "g 15-20 return, f 10-30 return, g 40-0 open", 5},
		{"from later on", 0, func(s *Stream) { s.Begin(1, 12) }, "g 15-20 return, g 40-0 open", 4},
		{"a clock that has begun anew", 0, func(s *Stream) { s.Begin(1000, 2000) }, "g 15-20 return, f 10-30 return, g 40-0 open", 5},
		{"until earlier", 0, func(s *Stream) { s.End(29) }, "g 15-20 return, f 10-0 open", 3},
		{"ended twice", 0, func(s *Stream) { s.End(29); s.End(100) }, "g 15-20 return, f 10-0 open", 3},
		{"one call", 1, func(*Stream) {}, "g 15-20 return, f 10-0 open", 3},
		{"two calls", 2, func(*Stream) {}, "g 15-20 return, f 10-30 return", 4},
		{"more than there are", 3, func(*Stream) {}, "g 15-20 return, f 10-30 return, g 40-0 open", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			var calls []string
			s := open(t, testPlan(), &piecewise{windowLines}, Options{Limit: c.limit})
			c.setup(s)
			readAll(t, s, told(&calls, spanned))
			delivered := s.account.delivered()
			if got := strings.Join(calls, ", "); got != c.calls || delivered != c.delivered {
				t.Errorf("%s; %d delivered\nwant %s; %d", got, delivered, c.calls, c.delivered)
			}
		})
	}
}

// TestLimitWithinUnwinding checks that an event that ends several calls ends no more than Limit allows.
func TestLimitWithinUnwinding(t *testing.T) {
	var ended int
	var text strings.Builder
	for i := range 5 {
		text.WriteString(line(0, 7, uint64(10+i), 0x1000, uint64(100+i)))
	}
	s := open(t, testPlan(), &piecewise{text.String() + line(0, 7, 20, 0x1000, 100)}, Options{Limit: 2})
	readAll(t, s, returns(func(c *Call) {
		if c.Outcome == Unwound {
			ended++
		}
	}))
	if at, full := s.Ended(); ended != 2 || !full || at != 20 {
		t.Errorf("%d calls have ended, the stream at %d, %v", ended, at, full)
	}
}

// TestMark checks that a mark comes after the calls that ended before its time and before the calls that ended later,
// whether a later event or an empty read shows that its time has passed.
func TestMark(t *testing.T) {
	var got []string
	half := len(windowLines) / 2
	src := piecewise{windowLines[:half], "", windowLines[half:], ""}
	s := open(t, testPlan(), &src, Options{})
	take := func(it *Item) bool {
		if it.Kind == Ended {
			got = append(got, fmt.Sprint(it.Call.End))
		}
		return true
	}
	mark := func(at uint64) { s.Mark(at, func() { got = append(got, fmt.Sprint("mark ", at)) }) }
	read := func() {
		if err := readOnce(t, s, take); err != nil {
			t.Fatal(err)
		}
	}
	mark(12)
	mark(18)
	read()
	read() // an empty read
	mark(22)
	read()
	read()
	mark(50)
	for it := range s.Finish() {
		take(it)
	}
	want := "mark 12, mark 18, 20, mark 22, 30, mark 50, 0"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// TestWaitInCall checks that a wait has the goroutine ID of the call around it, if no runtime probe has reported the ID
// yet.
func TestWaitInCall(t *testing.T) {
	plan := testPlan()
	plan.Sched, plan.Reasons, plan.Waits = true, []string{"waiting", "syscall"}, true
	for _, reason := range plan.Reasons {
		plan.Funcs = append(plan.Funcs, uprobe.Probe{Func: &offsets.Func{Name: reason}})
	}
	var calls []string
	p := streamTo(plan, returns(func(c *Call) {
		calls = append(calls, fmt.Sprintf("%s of %d: %d to %d, waits %v", plan.Funcs[c.Func].Name, c.Goid, c.Start, c.End, c.Waits))
	}))
	hit(p, uprobe.Entry, 0, 7, 16, 10)
	p.sched.change(13, 1, Waiting)
	w := p.sched.wake(18, 1)
	w.reason = plan.SyscallReason()
	p.endWait(w)
	hit(p, uprobe.Return, 0, 7, 16, 20)
	if want := []string{"syscall of 7: 13 to 18, waits []", "f of 7: 10 to 20, waits [{1 5}]"}; !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
}
