package render

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestEventColumns(t *testing.T) {
	rows := []stats.Func{
		{Name: "main.f", Calls: 4, Events: map[string]uint64{"a:second": 2, "b:third": 8, "b:rare1": 1, "b:rare2": 1, "b:rare3": 1, "c:last": 5}, Seconds: 10},
		{Name: "main.g", Calls: 3, Events: map[string]uint64{"b:third": 1}, Seconds: 10},
		{Name: "main.never", Seconds: 10},
	}
	names := []string{"a:never", "a:second", "b:third", "b:rare1", "b:rare2", "b:rare3", "c:last"}
	for _, c := range []struct {
		format Format
		want   string
	}{
		{Table, `
FUNCTION    CALLS  RATE/s  second/call  third/call  rare1/call  rare2/call  last/call
main.f          4    0.40         0.50        2.00        0.25        0.25       1.25
main.g          3    0.30            0        0.33           0           0          0
main.never      0       0            -           -           -           -          -
`},
		{JSON, `
{"type":"function","function":"main.f","calls":4,"completed":0,"unwound":0,"open":0,"lost":0,"rate":0.4,"events":{"a:second":2,"b:rare1":1,"b:rare2":1,"b:rare3":1,"b:third":8,"c:last":5}}
{"type":"function","function":"main.g","calls":3,"completed":0,"unwound":0,"open":0,"lost":0,"rate":0.3,"events":{"b:third":1}}
{"type":"function","function":"main.never","calls":0,"completed":0,"unwound":0,"open":0,"lost":0,"rate":0,"events":{}}
`},
		{CSV, `
function,calls,completed,unwound,open,lost,rate,a:never,a:second,b:third,b:rare1,b:rare2,b:rare3,c:last
main.f,4,0,0,0,0,0.400,0,2,8,1,1,1,5
main.g,3,0,0,0,0,0.300,0,0,1,0,0,0,0
main.never,0,0,0,0,0,0.000,0,0,0,0,0,0,0
`},
	} {
		var b bytes.Buffer
		fixture.NoError(t, Functions(&b, rows, Options{Format: c.format, Events: names}))
		if got := "\n" + b.String(); got != c.want {
			t.Errorf("%v:%s\nwant%s", c.format, got, c.want)
		}
	}
}

// TestEventLine: whatever a program is called, an event is one line that is safe to show.
func TestEventLine(t *testing.T) {
	e := &Line{
		Time: time.Unix(1, 2).UTC(), Event: "sched:sched_switch", Known: true, Function: "main.f", Thread: Thread{Goid: 7, PID: 3, TID: 4, CPU: 1},
		Fields: []pairing.KernelField{
			{Name: "prev_comm", Text: []byte("a b=\"\n\x1b[2J\xff")}, {Name: "prev_state", Num: ^uint64(0), Signed: true},
			{Name: "buf", Num: 0xc000, Hex: true}, {Name: "addr", Bytes: []byte{127, 1}}, {Name: "none", Text: []byte{}},
		},
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, `   event  goroutine 7  main.f  thread 4 cpu 1  sched:sched_switch prev_comm="a b=\"\n\x1b[2J\xff" prev_state=-1 buf=0xc000 addr=7f01 none=""`},
		{Options{Times: true, Processes: true}, `00:00:01.000000    event  pid 3 goroutine 7  main.f  thread 4 cpu 1  sched:sched_switch `},
		{Options{Format: JSON}, `{"type":"event","time":"1970-01-01T00:00:01.000000002Z","name":"sched:sched_switch","pid":3,"tid":4,"cpu":1,"goid":7,"function":"main.f",` +
			`"fields":{"prev_comm":"a b=\"\n\u001b[2J�","prev_state":-1,"buf":"0xc000","addr":"7f01","none":""}}`},
	} {
		var b bytes.Buffer
		fixture.NoError(t, NewCallWriter(&b, c.o).Line(e))
		if got := b.String(); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%+v:\n%s\nwant\n%s", c.o, got, c.want)
		}
	}
}
