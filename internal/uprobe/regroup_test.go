package uprobe

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestRegroups: in a plan whose functions come and go, runtime probes share no event with any of them, and
// a function shares its events with no more than so many.
func TestRegroups(t *testing.T) {
	b, err := offsets.Open(fixture.Build(t, "exact"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	all := b.Funcs()
	var funcs []*offsets.Func
	for i := range all {
		funcs = append(funcs, &all[i])
	}
	for _, first := range []bool{false, true} {
		opt := Options{Mode: Latency, Features: modern, Regroups: MostTogether}
		if first {
			opt.CountFirst = func(*offsets.Func) bool { return true }
		}
		p, err := New(b, funcs, opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Funcs) < MostTogether {
			t.Fatalf("%d functions are too few to tell", len(p.Funcs))
		}
		runtime := 0
		for _, ev := range p.Events {
			of := make(map[int]bool)
			for _, s := range ev.Sites {
				of[s.Func/MostTogether] = of[s.Func/MostTogether] || s.Func >= 0
				if s.Func < 0 {
					runtime++
				}
			}
			if ev.Sites[0].Func < 0 != (ev.Sites[len(ev.Sites)-1].Func < 0) {
				t.Errorf("%s is of functions and of the runtime", ev.Name)
			}
			if len(of) > 1 && ev.Sites[0].Func >= 0 || len(ev.Sites) > MostTogether {
				t.Errorf("%s has %d sites, of %d lots of functions", ev.Name, len(ev.Sites), len(of))
			}
		}
		if runtime == 0 {
			t.Error("no runtime probes")
		}
	}
}

// TestAgain: functions are counted instead of timed, and timed again, by themselves or beside that.
func TestAgain(t *testing.T) {
	p := planOf(t, Options{Mode: Latency, Features: modern, Regroups: MostTogether}, "main.leaf", "main.returns", "main.catch")
	for _, test := range []struct {
		name   string
		more   More
		counts bool
	}{
		{"counted", More{Funcs: []int{1}, Counts: true}, true},
		{"timed", More{Funcs: []int{0, 2}}, false},
		{"timed beside a counter", More{Funcs: []int{1}, Beside: true}, false},
	} {
		events, err := p.Again(modern, test.more)
		if err != nil {
			t.Fatal(err)
		}
		entries, ends := 0, 0
		for _, ev := range events {
			for _, s := range ev.Sites {
				switch {
				case s.Kind.Counts() != test.counts:
					t.Errorf("%s: a site of kind %d", test.name, s.Kind)
				case s.Kind.Counts() || s.Kind.IsEntry():
					entries++
					if s.Beside != test.more.Beside {
						t.Errorf("%s: beside %v", test.name, s.Beside)
					}
				case s.Beside:
					t.Errorf("%s: an end is beside", test.name)
				default:
					ends++
				}
			}
		}
		if entries != len(test.more.Funcs) || (ends == 0) != test.counts {
			t.Errorf("%s: %d entries, %d ends", test.name, entries, ends)
		}
		p.Events = append(p.Events, events...)
	}
	names := make(map[string]bool)
	for _, ev := range p.Events {
		if names[ev.Name] {
			t.Errorf("%s is there twice", ev.Name)
		}
		names[ev.Name] = true
	}
}

// planWith has functions, and events with sites at so many of them.
func planWith(funcs int, events ...[]int) *Plan {
	p := &Plan{Mode: Latency}
	for i := range funcs {
		p.Funcs = append(p.Funcs, Function{Func: &offsets.Func{Name: fmt.Sprintf("main.f%d", i)}, Returns: true})
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
		want string // functions and events of each group
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

// TestLater: functions that come later have no events in the plan, and counters when their time has come.
func TestLater(t *testing.T) {
	p := planOf(t, Options{Mode: Latency, Features: modern, Regroups: MostTogether, First: 1, CountFirst: func(*offsets.Func) bool { return true }}, "main.leaf", "main.returns", "main.catch")
	if p.Later() != 2 || len(p.Groups()) == 0 {
		t.Fatalf("%d functions come later, %d groups", p.Later(), len(p.Groups()))
	}
	counted := make(map[int]int)
	count := func() {
		for _, ev := range p.Events {
			for _, s := range ev.Sites {
				if s.Func >= 0 && s.Kind.Counts() {
					counted[s.Func]++
				} else if s.Func >= 0 {
					t.Errorf("%s is timed: a site of kind %d", p.Funcs[s.Func].Name, s.Kind)
				}
			}
		}
	}
	if count(); len(counted) != 1 || counted[0] != 1 {
		t.Errorf("at first counters of %v", counted)
	}
	events, err := p.Again(modern, More{Funcs: []int{1, 2}, Counts: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Events = events
	if count(); len(counted) != 3 || counted[0]+counted[1]+counted[2] != 3 {
		t.Errorf("at last counters of %v", counted)
	}
}
