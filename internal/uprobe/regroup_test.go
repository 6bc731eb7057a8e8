package uprobe

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestGroupSize checks that in a plan with a GroupSize, runtime probes share no event with functions, and no event
// has sites of two groups.
func TestGroupSize(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "exact"))
	all := b.Funcs()
	var funcs []*offsets.Func
	for i := range all {
		funcs = append(funcs, &all[i])
	}
	for _, recorded := range []bool{false, true} {
		opt := Options{Mode: Latency, Features: modern, GroupSize: MaxGroupSize, Recorded: recorded}
		p, err := New(b, funcs, opt)
		fixture.NoError(t, err)
		if len(p.Funcs) < MaxGroupSize {
			t.Fatalf("%d functions are too few to tell", len(p.Funcs))
		}
		runtime := 0
		for _, ev := range p.Events {
			of := make(map[int]bool)
			for _, s := range ev.Sites {
				of[s.Func/MaxGroupSize] = of[s.Func/MaxGroupSize] || s.Func >= 0
				if s.Func < 0 {
					runtime++
				}
			}
			if ev.Sites[0].Func < 0 != (ev.Sites[len(ev.Sites)-1].Func < 0) {
				t.Errorf("%s is of functions and of the runtime", ev.Name)
			}
			if len(of) > 1 && ev.Sites[0].Func >= 0 || len(ev.Sites) > MaxGroupSize {
				t.Errorf("%s has %d sites, of %d lots of functions", ev.Name, len(ev.Sites), len(of))
			}
		}
		if runtime == 0 {
			t.Error("no runtime probes")
		}
	}
}

// TestEventsFor checks events that count functions instead of timing them, and events that time them again.
func TestEventsFor(t *testing.T) {
	p := planOf(t, Options{Mode: Latency, Features: modern, GroupSize: MaxGroupSize, Recorded: true}, "main.leaf", "main.returns", "main.catch")
	for _, test := range []struct {
		name   string
		funcs  []int
		counts bool
	}{{"counted", []int{1}, true}, {"timed", []int{0, 2}, false}} {
		before := len(p.Events)
		events, err := p.EventsFor(test.funcs, test.counts)
		fixture.NoError(t, err)
		if len(p.Events) != before {
			t.Error("events are in the plan before they have joined it")
		}
		entries, ends := 0, 0
		for _, ev := range events {
			if ev.Filter != "" || ev.Fields.SP < 0 != test.counts || (len(ev.Args) == 0 && !ev.Recorded) != test.counts {
				t.Errorf("%s: event %s fetches %+v, filter %q", test.name, ev.Name, ev.Fields, ev.Filter)
			}
			for _, s := range ev.Sites {
				switch {
				case s.Kind.Counts() != test.counts:
					t.Errorf("%s: a site of kind %d", test.name, s.Kind)
				case s.Kind.Counts() || s.Kind.IsEntry():
					entries++
				default:
					ends++
				}
			}
		}
		if entries != len(test.funcs) || (ends == 0) != test.counts {
			t.Errorf("%s: %d entries, %d ends", test.name, entries, ends)
		}
		p.Events = append(p.Events, events...)
	}
	if p.Filtered() {
		t.Error("counters are taken for filters of what is to be delivered")
	}
	names := make(map[string]bool)
	for _, ev := range p.Events {
		if names[ev.Name] {
			t.Errorf("%s is there twice", ev.Name)
		}
		names[ev.Name] = true
	}
}

// TestCountPoint checks that the hits of an instruction that the user named are added when they are only counted.
func TestCountPoint(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "exact"))
	f := lookup(t, b, "main.leaf")[0]
	sites, err := b.Sites(f)
	fixture.NoError(t, err)
	point := Probe{Func: f, Sites: sites, Point: true}
	p := planIn(t, b, Options{Mode: Latency, Features: modern, GroupSize: MaxGroupSize, Recorded: true, Points: []Probe{point}})
	events, err := p.EventsFor([]int{0}, true)
	fixture.NoError(t, err)
	if len(events) != 1 || len(events[0].Sites) != 1 || events[0].Sites[0].Kind != Counter {
		t.Errorf("events %+v, want one with a Counter", events)
	}
}

// planWith returns a plan with a number of functions, and events with one site in each of the given functions.
func planWith(funcs int, events ...[]int) *Plan {
	p := &Plan{}
	for i := range funcs {
		p.Funcs = append(p.Funcs, Probe{Func: &offsets.Func{Name: fmt.Sprintf("main.f%d", i)}, Returns: true})
	}
	for _, of := range events {
		var ev Event
		for _, fn := range of {
			ev.Sites = append(ev.Sites, Site{Func: fn})
		}
		p.Events = append(p.Events, ev)
	}
	return p
}

func TestGroups(t *testing.T) {
	for _, test := range []struct {
		name string
		plan *Plan
		want string // the functions and events of each group
	}{
		{"one event", planWith(3, []int{0, 1, 2}), "[0 1 2] [0]"},
		{"events of their own", planWith(2, []int{0}, []int{1}), "[0] [0], [1] [1]"},
		{"an event in common", planWith(4, []int{0, 1}, []int{2}, []int{3}, []int{1, 2}), "[0 1 2] [0 1 3], [3] [2]"},
		{"runtime probes apart", planWith(2, []int{0, 1}, []int{-1, -1}, []int{0}, []int{-2}), "[0 1] [0 2], [] [1 3]"},
		{"runtime probes among others", planWith(2, []int{0}, []int{0, -1}, []int{-1}), "[0] [0 1 2]"},
		{"functions without probes", planWith(3, []int{2}), "[2] [0]"},
	} {
		got := ""
		for i, g := range test.plan.Groups() {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprint(g.Funcs, " ", g.Events)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSharedEntryEvent checks when sites where calls begin share an event with sites where they end.
func TestSharedEntryEvent(t *testing.T) {
	for _, test := range []struct {
		name, fn string
		opt      Options
		want     bool
	}{
		{"within a budget", "main.returns", Options{GroupSize: MaxGroupSize, Recorded: true}, true},
		{"in a script", "main.returns", Options{GroupSize: MaxGroupSize}, false},
		{"without a budget", "main.returns", Options{Recorded: true}, false},
		{"with callers", "main.returns", Options{GroupSize: MaxGroupSize, Recorded: true, Stack: 3}, false},
		{"a function of one instruction", "runtime.publicationBarrier", Options{GroupSize: MaxGroupSize, Recorded: true}, false},
	} {
		test.opt.Mode, test.opt.Features = Latency, modern
		got, all := false, make(map[Kind]bool)
		for _, ev := range planOf(t, test.opt, test.fn).Events {
			kinds := make(map[Kind]bool)
			for _, s := range ev.Sites {
				if s.Func == 0 {
					kinds[s.Kind], all[s.Kind] = true, true
				}
			}
			got = got || kinds[Entry] && kinds[Return]
		}
		if !all[Entry] || !all[Return] {
			t.Errorf("%s: sites by kind: %v", test.name, all)
		}
		if got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestDeferred checks that deferred functions have no events before EventsFor.
func TestDeferred(t *testing.T) {
	p := planOf(t, Options{Mode: Latency, Features: modern, GroupSize: MaxGroupSize, Recorded: true, FirstSites: 1}, "main.leaf", "main.returns", "main.catch")
	if p.DeferredSites() < 4 || len(p.Groups()) == 0 {
		t.Fatalf("%d places come later, %d groups", p.DeferredSites(), len(p.Groups()))
	}
	placed := func(events []Event) (funcs map[int]int) {
		funcs = make(map[int]int)
		for _, ev := range events {
			for _, s := range ev.Sites {
				if s.Func >= 0 && s.Kind.IsEntry() {
					funcs[s.Func]++
				}
			}
		}
		return funcs
	}
	if got := placed(p.Events); len(got) != 1 || got[0] != 1 {
		t.Errorf("at first entries of %v", got)
	}
	events, err := p.EventsFor([]int{1, 2}, false)
	if got := placed(events); err != nil || len(got) != 2 || got[1]+got[2] != 2 {
		t.Errorf("at last entries of %v, %v", got, err)
	}
}
