package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestChrome(t *testing.T) {
	at := func(us int) time.Time { return time.UnixMicro(1_700_000_000_000_000 + int64(us)).Add(7).UTC() }
	word, _ := gotype.Basic("int")
	call := func(name string, from, to int, end string) *Line {
		return &Line{Function: name, Thread: Thread{Goid: 7, PID: 3, TID: 4, CPU: 1}, Time: at(from), Ended: at(to), End: end, Args: []capture.Value{{Name: "n", Type: word, Num: 5}}}
	}
	thread := Thread{Goid: 7, PID: 3, TID: 4, CPU: 1}
	event := &Line{Time: at(12), Event: "sched:sched_switch", Thread: thread, Level: 1, Fields: []pairing.KernelField{{Name: "next_comm", Text: []byte("\"\n")}}}
	var b bytes.Buffer
	w := NewChromeWriter(&b, at(0).Add(-7))
	tree := func(root *Line, below ...*Line) error {
		for i := range below {
			below[i].Level = 1
		}
		return w.Tree(&Tree{Lines: append([]*Line{root}, below...)})
	}
	loop := call("main.loop", 30, 40, "open")
	loop.Shown = true
	for _, err := range []error{
		tree(call("main.f", 10, 20, "return"), event, call("main.g", 13, 14, "unwound")),
		tree(&Line{Function: "main.loop", Time: at(30), Thread: thread}, call("main.h", 31, 32, "return")),
		tree(loop, call("main.h", 33, 34, "return")),
		w.Event(&Line{Time: at(50), Event: "a:b", Thread: Thread{PID: 3, TID: 4}}),
		w.Close(stats.Summary{Hits: 9, Delivered: 8, Lost: 1}),
	} {
		fixture.NoError(t, err)
	}
	want := `{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":3,"tid":7,"args":{"name":"process 3"}},
{"ph":"M","name":"thread_name","pid":3,"tid":7,"args":{"name":"goroutine 7"}},
{"ph":"X","cat":"call","name":"main.f","ts":10.007,"pid":3,"tid":7,"dur":10.000,"args":{"arguments":{"n":5},"results":{},"thread":4,"cpu":1}},
{"ph":"i","cat":"kernel","name":"sched:sched_switch","ts":12.007,"pid":3,"tid":7,"s":"t","args":{"next_comm":"\"\n"}},
{"ph":"X","cat":"call","name":"main.g","ts":13.007,"pid":3,"tid":7,"dur":1.000,"cname":"terrible","args":{"arguments":{"n":5},"end":"unwound","thread":4,"cpu":1}},
{"ph":"B","cat":"call","name":"main.loop","ts":30.007,"pid":3,"tid":7},
{"ph":"X","cat":"call","name":"main.h","ts":31.007,"pid":3,"tid":7,"dur":1.000,"args":{"arguments":{"n":5},"results":{},"thread":4,"cpu":1}},
{"ph":"X","cat":"call","name":"main.h","ts":33.007,"pid":3,"tid":7,"dur":1.000,"args":{"arguments":{"n":5},"results":{},"thread":4,"cpu":1}},
{"ph":"E","cat":"call","name":"main.loop","ts":40.007,"pid":3,"tid":7,"cname":"grey","args":{"arguments":{"n":5},"end":"open","thread":4,"cpu":1}},
{"ph":"M","name":"thread_name","pid":3,"tid":2000000004,"args":{"name":"thread 4"}},
{"ph":"i","cat":"kernel","name":"a:b","ts":50.007,"pid":3,"tid":2000000004,"s":"t","args":{}}
],"otherData":{"began":"2023-11-14T22:13:20.000000000Z","hits":"9","delivered":"8","lost":"1"}}
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestChromeOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := NewChromeWriter(&b, time.Unix(0, 0)).Close(stats.Summary{}); err != nil || !strings.HasPrefix(b.String(), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]") {
		t.Errorf("%q, %v", b.String(), err)
	}
	w := NewChromeWriter(brokenWriter{}, time.Unix(0, 0))
	for what, err := range map[string]error{
		"event": w.Event(&Line{}), "tree": w.Tree(&Tree{}), "end": w.Close(stats.Summary{}),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error of a broken writer = %v", what, err)
		}
	}
}
