package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestChrome(t *testing.T) {
	at := func(us int) time.Time { return time.UnixMicro(1_700_000_000_000_000 + int64(us)).Add(7).UTC() }
	word, _ := gotype.Basic("int")
	call := func(name string, from, to int, end string) *CallLine {
		return &CallLine{Function: name, Thread: Thread{Goid: 7, PID: 3, TID: 4, CPU: 1}, Time: at(from), Ended: at(to), End: end, Args: []capture.Value{{Name: "n", Type: word, Num: 5}}}
	}
	event := &EventLine{Time: at(12), Name: "sched:sched_switch", Thread: Thread{Goid: 7, PID: 3, TID: 4}, Fields: []pairing.KernelField{{Name: "next_comm", Text: []byte("\"\n")}}}
	var b bytes.Buffer
	w := NewChromeWriter(&b, at(0).Add(-7))
	tree := func(lines ...TreeLine) error {
		for i := range lines {
			lines[i].Thread = Thread{Goid: 7, PID: 3, TID: 4, CPU: 1}
		}
		return w.Tree(&CallTree{Lines: lines})
	}
	for _, err := range []error{
		tree(TreeLine{Call: call("main.f", 10, 20, "return")}, TreeLine{Event: event, Level: 1}, TreeLine{Call: call("main.g", 13, 14, "unwound"), Level: 1}),
		tree(TreeLine{Function: "main.loop", Begun: at(30)}, TreeLine{Call: call("main.h", 31, 32, "return"), Level: 1}),
		tree(TreeLine{Call: call("main.loop", 30, 40, "open"), Shown: true}, TreeLine{Call: call("main.h", 33, 34, "return"), Level: 1}),
		w.Event(&EventLine{Time: at(50), Name: "a:b", Thread: Thread{PID: 3, TID: 4}}),
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
		"event": w.Event(&EventLine{}), "tree": w.Tree(&CallTree{}), "end": w.Close(stats.Summary{}),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error of a broken writer = %v", what, err)
		}
	}
}
