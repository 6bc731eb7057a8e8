package session

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// fakeSource yields a call for each Read, until calls is 0. It records its method calls in did.
type fakeSource struct {
	did     []string
	fails   string // the method that fails
	panics  string // the method that panics once
	calls   int    // the number of calls to yield
	stopped bool
	marked  bool
	last    *trace.Reading // set when all was read
}

var errFake = errors.New("fake failure")

func (s *fakeSource) do(what string) error {
	s.did = append(s.did, what)
	if s.panics == what {
		s.panics = ""
		panic(errFake)
	}
	if s.fails == what {
		return errFake
	}
	return nil
}

func (s *fakeSource) Clock() *trace.Clock        { return &trace.Clock{} }
func (s *fakeSource) Spawn(*trace.Command) error { return s.do("spawn") }
func (s *fakeSource) Close() error               { return s.do("close") }

func (s *fakeSource) Arm(context.Context) error { return s.do("arm") }

func (s *fakeSource) Began() time.Time { return time.Now() }

func (s *fakeSource) Read(context.Context) iter.Seq2[*pairing.Item, error] {
	return func(yield func(*pairing.Item, error) bool) {
		switch {
		case s.stopped:
			s.last = &trace.Reading{Last: true, Counts: &pairing.Counts{Funcs: []pairing.Count{{Calls: 3, Timed: 3}}}}
			yield(nil, io.EOF)
		case s.calls == 0:
			yield(nil, cmp.Or(s.do("read"), io.EOF))
		case s.marked:
			if s.marked = false; !yield(&pairing.Item{Kind: pairing.Marked}, nil) {
				return
			}
			fallthrough
		default:
			s.calls--
			_ = yield(&pairing.Item{Kind: pairing.Ended, Call: &pairing.Call{}}, nil) && yield(&pairing.Item{Kind: pairing.Read}, nil)
		}
	}
}

func (s *fakeSource) Mark() error {
	s.marked = true
	return s.do("mark")
}

func (s *fakeSource) Reading() (*trace.Reading, error) {
	if s.last == nil {
		return &trace.Reading{Counts: &pairing.Counts{Funcs: make([]pairing.Count, 1)}}, nil
	}
	if s.fails == "counters" {
		return s.last, errFake
	}
	return s.last, nil
}

func (s *fakeSource) Stop() error {
	s.stopped = true
	return s.do("stop")
}

// fakeView records its method calls in the source.
type fakeView struct {
	source    *fakeSource
	fails     string
	intervals int // the number of intervals after which the view has enough; such a view does not record calls
}

func (v *fakeView) note(what string) error {
	if v.fails == what {
		v.source.fails = what
	}
	return v.source.do(what)
}

func (v *fakeView) Needs() view.Needs {
	return view.Needs{Totals: engine.Totals{Intervals: true}}
}
func (v *fakeView) Begin(*view.Scene) error { return v.note("begin") }

func (v *fakeView) Interval(*trace.Reading) error {
	if v.intervals--; v.intervals == 0 {
		return view.ErrEnough
	}
	return v.note("interval")
}

func (v *fakeView) Take(it *pairing.Item) error {
	if it.Kind != pairing.Ended || v.intervals > 0 {
		return nil
	}
	return v.note("return")
}

func (v *fakeView) End(t *trace.Reading) error {
	return v.note("end")
}

// TestResultsFirst checks that an error after the measurement does not lose the results, and that the probes are
// removed after any error.
func TestResultsFirst(t *testing.T) {
	for _, test := range []struct {
		source, view string // the method that fails
		want         string
	}{
		{"", "", "begin arm return return read stop close end close"},
		{"arm", "", "begin arm close"},
		{"read", "", "begin arm return return read stop close end close"},
		{"stop", "", "begin arm return return read stop close end close"},
		{"counters", "", "begin arm return return read stop close end close"},
		{"close", "", "begin arm return return read stop close end close"},
		{"", "begin", "begin"},
		{"", "return", "begin arm return stop close"},
		{"", "end", "begin arm return return read stop close end close"},
	} {
		s := &fakeSource{fails: test.source, calls: 2}
		j := fakeRun(s, &fakeView{source: s, fails: test.view})
		err := j.trace(t.Context(), io.Discard)
		if (err != nil) != (test.source+test.view != "") || err != nil && !errors.Is(err, errFake) {
			t.Errorf("%q and %q fail: %v", test.source, test.view, err)
		}
		for i, what := range s.did {
			s.did[i] = strings.ReplaceAll(what, " ", "-")
		}
		if got := strings.Join(s.did, " "); got != test.want {
			t.Errorf("%q and %q fail:\n%s, want\n%s", test.source, test.view, got, test.want)
		}
	}
}

// TestPanics checks that the source is closed after any panic.
func TestPanics(t *testing.T) {
	for _, what := range []string{"arm", "read", "return", "stop", "close", "end"} {
		s := &fakeSource{panics: what, calls: 2}
		func() {
			defer func() {
				if v := recover(); v != errFake {
					t.Errorf("%s panics: recovered %v", what, v)
				}
			}()
			_ = fakeRun(s, &fakeView{source: s}).trace(t.Context(), io.Discard)
		}()
		if !slices.Contains(s.did, "close") {
			t.Errorf("%s panics: %q", what, s.did)
		}
	}
}

func fakeRun(s trace.Source, v view.View) *run {
	plan := &uprobe.Plan{Funcs: []uprobe.Probe{{Func: &offsets.Func{Name: "main.f"}, Returns: true}}}
	return &run{
		Options: &Options{Options: view.Options{Env: &cli.Env{Stdout: io.Discard, Stderr: io.Discard}}},
		view:    v, needs: v.Needs(), source: s, request: engine.Request{Plan: plan, Source: trace.Options{Costs: trace.NoCosts{}}},
	}
}

// TestIntervals checks that intervals come between reads, before later calls.
func TestIntervals(t *testing.T) {
	s := &fakeSource{calls: 1 << 30}
	v := &fakeView{source: s, intervals: 3}
	j := fakeRun(s, v)
	j.Interval = time.Millisecond
	if err := j.trace(t.Context(), io.Discard); err != nil {
		t.Error(err)
	}
	if v.intervals != 0 || !slices.Contains(s.did, "end") {
		t.Errorf("%d intervals are missing; at the end %v", v.intervals, s.did[len(s.did)-3:])
	}
}
