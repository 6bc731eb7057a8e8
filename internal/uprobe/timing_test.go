package uprobe

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets"
)

// TestCountFirst: what is counted first gets its returns when it is timed; what is not is
// timed from the start.
func TestCountFirst(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		p := planOf(t, Options{Mode: Latency, Features: modern, Recorded: recorded, CountFirst: func(f *offsets.Func) bool { return f.Name != "main.leaf" }},
			"main.leaf", "main.returns", "main.catch")
		filter := "common_pid == 1 && common_pid == 2"
		if recorded {
			filter = ""
		}
		last := p.Events[len(p.Events)-1]
		if last.Sites[0].Kind != Counter || len(last.Sites) != 2 || last.Filter != filter || len(last.Args) != 0 {
			t.Errorf("recorded %v: last event %s of kind %d with %d sites, %q", recorded, last.Name, last.Sites[0].Kind, len(last.Sites), last.Filter)
		}
		if p.Filtered() {
			t.Error("counters are taken for filters of what is to be delivered")
		}
		returns := 0
		for _, ev := range p.Events {
			for _, s := range ev.Sites {
				if s.Kind == Return {
					returns++
				}
			}
		}
		if returns != len(p.Funcs[0].Sites.Returns) {
			t.Errorf("%d returns from the start, want those of main.leaf, %d", returns, len(p.Funcs[0].Sites.Returns))
		}

		before := len(p.Events)
		late, err := p.Again(modern, More{Funcs: []int{1, 2}, Beside: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Events) != before {
			t.Error("events are in the plan before they have joined it")
		}
		names := make(map[string]bool)
		for _, ev := range p.Events {
			names[ev.Name] = true
		}
		sites := map[Kind]int{}
		for i, ev := range late {
			if names[ev.Name] {
				t.Errorf("event %s is there twice", ev.Name)
			}
			names[ev.Name] = true
			if i > 0 && late[i-1].Sites[0].Kind > ev.Sites[0].Kind {
				t.Errorf("kind %d after %d", ev.Sites[0].Kind, late[i-1].Sites[0].Kind)
			}
			if ev.Filter != "" || ev.Fields.SP < 0 {
				t.Errorf("event %s can't time: %+v %q", ev.Name, ev.Fields, ev.Filter)
			}
			for _, s := range ev.Sites {
				sites[s.Kind]++
			}
		}
		if want := len(p.Funcs[1].Sites.Returns) + len(p.Funcs[2].Sites.Returns); sites[Entry]+sites[EntryJump] != 2 || sites[Return] != want {
			t.Errorf("sites by kind: %v, want 2 entries, %d returns", sites, want)
		}
		p.Events = append(p.Events, late...)
		if len(p.Events) != before+len(late) || !strings.HasPrefix(p.Events[before].Name, "e") {
			t.Errorf("%d events, want %d more than %d", len(p.Events), len(late), before)
		}
	}
}
