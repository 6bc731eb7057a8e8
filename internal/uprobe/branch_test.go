package uprobe

import (
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestBranchForEntry checks that beginnings of calls are observed at a function's first branch if that is cheaper,
// but not where the branch would change the fetched values.
func TestBranchForEntry(t *testing.T) {
	values := Values{Entry: &capture.Capture{Args: []tracefs.Arg{{Name: "p0", Fetch: "%ax", Type: "x64"}}, Words: 1}}
	old := modern
	old.PushEmulated = false
	c := fixture.Compile(t, "gcc", "c/flow.c", "-O2", "-fcf-protection=full")
	target := fixture.Build(t, "exact")
	for _, tt := range []struct {
		scenario, path, fn string
		opt                Options
		branch, intact     bool // branch: calls are observed at the branch
	}{
		{"counted", target, "main.fill", Options{Mode: Count, Features: modern}, true, false},
		{"timed", target, "main.fill", Options{Features: modern}, true, false},
		{"with stacks", target, "main.fill", Options{Features: modern, Stack: 3}, true, false},
		{"with values, a register written before", target, "main.fill", Options{Features: modern, Values: always(values)}, false, false},
		{"with no values after all", target, "main.fill", Options{Features: modern, Values: always(Values{Entry: &capture.Capture{}})}, true, false},
		{"with values, nothing written before", target, "main.branchFirst", Options{Features: modern, Values: always(values)}, true, true},
		{"tail jump, counted", c, "tail_direct", Options{Mode: Count, Features: modern}, true, false},
		{"tail jump, timed", c, "tail_direct", Options{Features: modern}, false, false},
		{"push", c, "tail_frame", Options{Features: modern}, true, true},
		{"push that this kernel steps", c, "tail_frame", Options{Features: old}, false, true},
		{"branch, on that kernel", target, "main.branchFirst", Options{Features: old}, true, true},
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			p := planIn(t, binaries.Open(t, tt.path), tt.opt, tt.fn)
			s := p.Funcs[0].Sites
			if s.Branch == nil || s.Intact != tt.intact {
				t.Fatalf("branch %v, intact %v", s.Branch, s.Intact)
			}
			want := s.Entry.Offset()
			if tt.branch {
				want = s.Branch.Offset()
			}
			for i := range p.Events {
				if k := p.Events[i].Sites[0].Kind; !k.IsEntry() && !k.Counts() {
					continue
				}
				if sites := p.Events[i].Sites; len(sites) != 1 || sites[0].Offset != want || p.Funcs[0].Stepped == tt.branch {
					t.Errorf("calls are seen at %+v, stepped %v; want %#x", sites, p.Funcs[0].Stepped, want)
				}
				return
			}
			t.Error("nowhere are calls seen to begin")
		})
	}
}

func always(v Values) func(*offsets.Func, *offsets.Sites) (Values, error) {
	return func(*offsets.Func, *offsets.Sites) (Values, error) { return v, nil }
}
