package pairing

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// hitSites returns site accounts with these numbers of hits, one site per event.
func hitSites(hits ...uint64) (events [][]siteAccount) {
	for _, n := range hits {
		events = append(events, []siteAccount{{hits: n}})
	}
	return events
}

// delivered returns the hits of all sites.
func (a *accounting) delivered() (hits uint64) {
	for _, sites := range a.sites {
		for i := range sites {
			hits += sites[i].hits
		}
	}
	return hits
}

// TestCounts checks the counts of a function with an entry and a return, for readings of the kernel's counters at the
// begin of the window and now.
func TestCounts(t *testing.T) {
	seven := accounting{sites: hitSites(7, 5), funcs: []Count{{Calls: 7, Timed: 7}}}
	for _, c := range []struct {
		name     string
		kind     uprobe.Kind // of the entry
		account  accounting
		from, at [][]uint64
		counters Counters
		unparsed uint64
		filter   string
		want     string // CALLS-UNSURE/TIMED missing MISSING; HITS=DELIVERED+FILTERED+LOST, COUNTED
	}{
		{"all delivered", uprobe.Entry, seven, nil, [][]uint64{{7}, {5}}, Counters{Exclusive: true}, 0, "", "7-0/7 missing 0; 12=12+0+0"},
		{"before the window", uprobe.Entry, seven, [][]uint64{{10}, {20}}, [][]uint64{{17}, {25}}, Counters{Exclusive: true}, 0, "", "7-0/7 missing 0; 12=12+0+0"},
		{"counters are read a moment later", uprobe.Entry, seven, nil, [][]uint64{{8}, {6}}, Counters{Exclusive: true}, 0, "", "7-0/7 missing 0; 12=12+0+0"},
		{"lost", uprobe.Entry, seven, nil, [][]uint64{{8}, {7}}, Counters{Exclusive: true, Overruns: 3}, 0, "", "8-0/8 missing 2; 15=12+0+3"},
		{"not understood", uprobe.Entry, seven, nil, [][]uint64{{8}, {7}}, Counters{Exclusive: true}, 3, "", "8-0/8 missing 2; 15=12+0+3"},
		{"lost, and hit after the moment", uprobe.Entry, seven, nil, [][]uint64{{8}, {9}}, Counters{Exclusive: true, Overruns: 3}, 0, "", "8-0/8 missing 4; 15=12+0+3"},
		{"too few counted", uprobe.Entry, seven, nil, [][]uint64{{6}, {4}}, Counters{Exclusive: true, Overruns: 1}, 0, "", "7-0/7 missing 0; 12=12+0+0"},
		{"too few counted, and lost", uprobe.Entry, seven, nil, [][]uint64{{6}, {4}}, Counters{Exclusive: true, Overruns: 1, Inexact: true}, 0, "", "7-0/7 missing 0; 13=12+0+1"},
		{"nothing counted, as in a recording that was cut off", uprobe.Entry, seven, nil, nil, Counters{Exclusive: true}, 0, "", "7-0/7 missing 0; 12=12+0+0"},
		{"other processes", uprobe.Entry, seven, nil, [][]uint64{{70}, {50}}, Counters{Overruns: 2}, 0, "", "7-0/7 missing 0; 14=12+0+2"},
		{"filtered", uprobe.Entry, seven, nil, [][]uint64{{70}, {50}}, Counters{Exclusive: true, Overruns: 2}, 0, "v > 1", "7-0/7 missing 0; 120=12+106+2"},
		{"hits at a stack check that were lost", uprobe.EntryJump, accounting{sites: hitSites(7, 5), funcs: []Count{{Calls: 5, noCalls: 2, Timed: 5, timedNoCalls: 2}}},
			nil, [][]uint64{{10}, {5}}, Counters{Exclusive: true, Overruns: 3}, 0, "", "8-3/8 missing 0; 15=12+0+3"},
		{"returns that nobody waits for", uprobe.Entry, accounting{sites: hitSites(7, 5), funcs: []Count{{Calls: 7, Timed: 7, Abandoned: 1}}},
			nil, [][]uint64{{7}, {7}}, Counters{Exclusive: true, Overruns: 2}, 0, "", "7-0/6 missing 1; 14=12+0+2"},
		{"a stack check that made a call begin anew, and an end that nobody saw", uprobe.Entry, accounting{sites: hitSites(4, 2), funcs: []Count{{Calls: 3, noCalls: 1, Timed: 3, timedNoCalls: 1, Abandoned: 1}}},
			nil, [][]uint64{{4}, {2}}, Counters{Exclusive: true}, 0, "", "3-0/2 missing 0; 6=6+0+0"},
		{"a Counter that nobody else takes the place of", uprobe.Counter, accounting{sites: hitSites(0, 0), funcs: make([]Count, 1)},
			nil, [][]uint64{{10}, {0}}, Counters{Exclusive: true}, 0, "", "10-0/0 missing 0; 10=10+0+0, 10 counted"},
	} {
		plan := &uprobe.Plan{Funcs: make([]uprobe.Probe, 1), Events: make([]uprobe.Event, 2)}
		plan.Events[0].Sites = append(plan.Events[0].Sites, uprobe.Site{Kind: c.kind, Addr: 1})
		plan.Events[1].Sites = append(plan.Events[1].Sites, uprobe.Site{Kind: uprobe.Return, Addr: 2})
		plan.Events[0].Filter = c.filter
		c.account.unknown = c.unparsed
		s := &Stream{reader: new(parse.Reader), plan: plan, account: c.account}
		c.counters.From, c.counters.At = c.from, c.at
		got := s.Counts(c.counters)
		f := got.Funcs[0]
		text := fmt.Sprintf("%d-%d/%d missing %d; %d=%d+%d+%d", f.Calls, f.Unsure, f.Timed, f.Missing, got.Hits, got.Delivered, got.Filtered, got.Lost)
		if got.CountedOnly > 0 {
			text += fmt.Sprintf(", %d counted", got.CountedOnly)
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestCountsChecks checks the counts of a function whose calls begin at a stack check. The kernel counts 10 hits of its
// jump, and records the failed ones, of which 2 were delivered. Each lost event may be another failed one.
func TestCountsChecks(t *testing.T) {
	for _, c := range []struct {
		mode                  uprobe.Mode
		kind                  uprobe.Kind
		lost, unparsed, calls uint64
		unsure                uint64
	}{
		{uprobe.Latency, uprobe.CounterJump, 0, 0, 8, 0},
		{uprobe.Latency, uprobe.CounterJump, 3, 0, 8, 3},
		{uprobe.Latency, uprobe.CounterJump, 0, 1, 8, 1},
		{uprobe.Latency, uprobe.CounterJump, 300, 0, 8, 8},
		{uprobe.Count, uprobe.EntryJump, 0, 0, 8, 0},
		{uprobe.Count, uprobe.EntryJump, 3, 1, 8, 4},
		{uprobe.Count, uprobe.Entry, 3, 1, 8, 0},
	} {
		plan := &uprobe.Plan{Options: uprobe.Options{Mode: c.mode}, Funcs: make([]uprobe.Probe, 1), Events: make([]uprobe.Event, 1)}
		plan.Events[0].Sites = append(plan.Events[0].Sites, uprobe.Site{Kind: c.kind, Addr: 1})
		account := accounting{sites: hitSites(2), funcs: []Count{{noCalls: 2}}, unknown: c.unparsed}
		s := &Stream{reader: new(parse.Reader), plan: plan, account: account}
		if got := s.Counts(Counters{At: [][]uint64{{10}}, Exclusive: true, Overruns: c.lost}).Funcs[0]; got.Calls != c.calls || got.Unsure != c.unsure {
			t.Errorf("%+v: %d calls, %d unsure", c, got.Calls, got.Unsure)
		}
	}
}
