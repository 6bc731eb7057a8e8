package render

import (
	"bytes"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/schema"
)

// TestTreeJSON: calls and events follow their tree, as docs/schema describes them.
func TestTreeJSON(t *testing.T) {
	at := time.Unix(1, 2)
	thread := Thread{Goid: 7, PID: 3, TID: 4, CPU: 1}
	call := &Line{Function: "main.f", Thread: thread, Time: at, NS: 9, End: "return"}
	branch := &Line{Function: "main.g", Thread: Thread{Goid: 8, PID: 3, TID: 5}, Time: at, End: "open", Level: 1, Branch: true, Outlived: 5}
	event := &Line{Time: at, Event: "a:b", Thread: thread, Level: 1}
	goesOn := &Line{Thread: Thread{Goid: 8}, Level: 1, Branch: true, GoesOn: true}
	trees := []*Tree{
		{First: call, Root: call, Took: 9, LeftOut: 2, Lines: []*Line{call, event, branch, goesOn}},
		{First: branch, Root: branch, Took: 10, Continued: true, Origin: &Line{Function: "main.f", Thread: thread}},
	}
	var out bytes.Buffer
	w := NewCallWriter(&out, Options{Format: JSON})
	for _, tree := range trees {
		fixture.NoError(t, w.Tree(tree))
	}
	if err := w.Line(call); err != nil { // which is in no tree
		t.Fatal(err)
	}
	want := `{"type":"tree","tree":1,"time":"1970-01-01T00:00:01.000000002Z","function":"main.f","goid":7,"pid":3,"ns":9,"lines":3,"left_out":2,"goes_on":[8]}
{"type":"call","time":"1970-01-01T00:00:01.000000002Z","function":"main.f","goid":7,"pid":3,"tid":4,"cpu":1,"depth":0,"tree":1,"level":0,"ns":9,"end":"return","args":{},"results":{}}
{"type":"event","time":"1970-01-01T00:00:01.000000002Z","name":"a:b","pid":3,"tid":4,"cpu":1,"tree":1,"level":1,"fields":{}}
{"type":"call","time":"1970-01-01T00:00:01.000000002Z","function":"main.g","goid":8,"pid":3,"tid":5,"cpu":0,"depth":0,"tree":1,"level":1,"outlived_ns":5,"end":"open","args":{}}
{"type":"tree","tree":2,"time":"1970-01-01T00:00:01.000000002Z","function":"main.g","goid":8,"pid":3,"ns":10,"lines":0,"left_out":0,"started_by":{"function":"main.f","goid":7},"continued":true}
{"type":"call","time":"1970-01-01T00:00:01.000000002Z","function":"main.f","goid":7,"pid":3,"tid":4,"cpu":1,"depth":0,"ns":9,"end":"return","args":{},"results":{}}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := schema.Check(out.String()); err != nil {
		t.Error(err)
	}
}
