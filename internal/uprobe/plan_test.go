package uprobe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

var modern = tracefs.Features{Memory: true, Instances: true, Append: true, PushEmulated: true}

func lookup(t *testing.T, b *offsets.Binary, names ...string) (funcs []*offsets.Func) {
	t.Helper()
	for _, n := range names {
		f, ok := b.Lookup(n)
		if !ok {
			t.Fatalf("no function %s", n)
		}
		funcs = append(funcs, f)
	}
	return funcs
}

func planOf(t *testing.T, opt Options, names ...string) *Plan {
	t.Helper()
	return planIn(t, binaries.Open(t, fixture.Build(t, "exact")), opt, names...)
}

func planIn(t *testing.T, b *offsets.Binary, opt Options, names ...string) *Plan {
	t.Helper()
	p, err := New(b, lookup(t, b, names...), opt)
	fixture.NoError(t, err)
	return p
}

// outline returns the events of a plan, one a line, without the names and addresses that differ from build to build.
func outline(p *Plan) string {
	var b strings.Builder
	for i := range p.Events {
		ev := &p.Events[i]
		var args []string
		for _, a := range ev.Args {
			args = append(args, a.Name+"="+a.Fetch+":"+a.Type)
		}
		fmt.Fprintf(&b, "%s %d sites [%s] %s\n", ev.Name[:1], len(ev.Sites), strings.Join(args, " "), ev.Filter)
		for _, site := range ev.Sites {
			if site.Fetch != nil {
				fmt.Fprintf(&b, "of kind %d: %s\n", site.Kind, strings.Join(site.Fetch, " "))
			}
		}
	}
	return b.String()
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name  string
		opt   Options
		funcs []string
		want  string
	}{
		{"latency", Options{Mode: Latency, Features: modern}, []string{"main.leaf", "main.returns", "main.catch"},
			`e 3 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64 id=+152(%r14):s64] 
r 12 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
of kind 7: +0(+0(%sp)) +16(+0(%sp)) +8(+16(+0(%sp)))
`},
		{"latency where push is single-stepped", Options{Mode: Latency, Features: tracefs.Features{Memory: true, Instances: true, Append: true}}, []string{"main.leaf", "main.catch"},
			`e 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64 id=+152(%r14):s64] 
j 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64 id=+152(%r14):s64 fl=%flags:s64] 
r 6 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
of kind 7: +0(+0(%sp)) +16(+0(%sp)) +8(+16(+0(%sp)))
`},
		{"one site an event", Options{Mode: Latency, Features: tracefs.Features{Memory: true, Instances: true, PushEmulated: true}}, []string{"main.catch"},
			`e 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64 id=+152(%r14):s64] 
r 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
r 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
r 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
r 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
r 1 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
of kind 7: +0(+0(%sp)) +16(+0(%sp)) +8(+16(+0(%sp)))
`},
		{"count", Options{Mode: Count, Features: modern}, []string{"main.leaf", "main.catch"},
			"e 2 sites [] common_pid == 1 && common_pid == 2\n"},
		{"count by the jump", Options{Mode: Count, Features: tracefs.Features{Memory: true, Instances: true, Append: true}}, []string{"main.leaf", "main.catch"},
			"e 1 sites [] common_pid == 1 && common_pid == 2\nj 1 sites [fl=%flags:s64] fl & 65\n"},
		{"count what is recorded", Options{Mode: CountRecorded, Features: modern}, []string{"main.leaf"},
			"e 1 sites [] \n"},
		{"runtime and assembly", Options{Mode: Latency, Features: modern}, []string{"runtime.mallocgc", "runtime.gogo"},
			`e 2 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64 lo=+0(%r14):s64 id=+152(%r14):s64] 
r 12 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64 lo=+0(%r14):s64] 
r 3 sites [sp=%sp:s64 g=%r14:s64 hi=+8(%r14):s64] 
of kind 7: +0(+0(%sp)) +16(+0(%sp)) +8(+16(+0(%sp)))
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, c.opt, c.funcs...)
			got, want := outline(p), c.want
			if c.name == "runtime and assembly" {
				// The number of returns of runtime.mallocgc varies, and gogo ends by a jump.
				n := len(p.Funcs[slices.IndexFunc(p.Funcs, func(f Probe) bool { return f.Name == "runtime.mallocgc" })].Sites.Returns)
				want = strings.Replace(want, "r 12 sites", fmt.Sprintf("r %d sites", n+1), 1)
			}
			if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestEvents checks that event names are longer than any thread name and differ between plans, and that the sites of an event
// have different addresses, which are in their functions.
func TestEvents(t *testing.T) {
	names := make(map[string]bool)
	for range 2 {
		p := planOf(t, Options{Mode: Latency, Features: modern}, "main.leaf", "main.returns")
		for _, ev := range p.Events {
			if len(ev.Name) < 16 || names[ev.Name] {
				t.Errorf("event name %q is there twice, or short enough for a thread's", ev.Name)
			}
			names[ev.Name] = true
			seen := make(map[uint64]bool)
			for _, s := range ev.Sites {
				if seen[s.Addr] {
					t.Errorf("%s: %#x is there twice", ev.Name, s.Addr)
				}
				seen[s.Addr] = true
				if f := p.Funcs[max(s.Func, 0)]; s.Func >= 0 && (s.Addr < f.Addr || s.Addr >= f.Addr+f.Size) {
					t.Errorf("%s: %#x is said to be in %s", ev.Name, s.Addr, f.Name)
				}
			}
		}
	}
}

// TestSkippedPoint checks that a plan leaves out an instruction that can't be probed, and returns its error.
func TestSkippedPoint(t *testing.T) {
	bad := Probe{Func: &offsets.Func{Name: "store.go:1"}, Point: true, Err: errors.New("in no function")}
	p := planOf(t, Options{Features: modern, Points: []Probe{bad}}, "main.leaf")
	if len(p.Funcs) != 1 || len(p.Skipped) != 1 || p.Skipped[0].Name != bad.Name || p.Skipped[0].Err != bad.Err {
		t.Errorf("%d functions, skipped %+v", len(p.Funcs), p.Skipped)
	}
}
