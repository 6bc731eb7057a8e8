package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Coverage finds the functions of a plan that ever run, in any process of the file. It reads the kernel's counters and
// records nothing. The probe of a function that has run is of no more use, so Coverage removes it: the cost of probes falls to
// nearly nothing, and functions that have not run cost nothing.
//
// The kernel disarms an event as a whole. So Coverage first arms a new event with the other sites of the event, and then
// disarms the old one. No call is missed in between, and the breakpoints of the other sites stay in place.
type Coverage struct {
	Ran map[int]bool // the functions that have run, as indexes of Plan.Funcs
	// Armed is how long it took to arm all probes.
	Armed   time.Duration
	fs      *tracefs.FS
	plan    *uprobe.Plan
	opt     Options
	session *tracefs.Session
	events  []uprobe.Event // the armed ones
	nonce   string
	made    int                // the number of events so far
	spent   map[string]float64 // the cost of hits in seconds by event, at the last reading of the counters
	began   time.Time          // when all probes were armed
	next    time.Time          // when they are read next
	cpu     *procfs.CPUTimes   // of the program
	cpuRead time.Duration      // the program's CPU time at the last reading
	define  time.Duration      // how long defining a site takes
	slow    func()             // ends the expedited grace periods; nil outside of them
}

const (
	// coverSites is the number of sites of an event. To remove one site, all others are defined again, which takes half a
	// millisecond a site if 30,000 sites exist; and each event takes a grace period at the end.
	coverSites = 128
	// maxCoverEvents limits the number of events by giving them more sites.
	maxCoverEvents = 400
	// maxReplaced is the number of sites that are defined again at once, before the counters are read again.
	maxReplaced = 2000
	// settling is the time in which probes of hot functions are found and removed as soon as possible.
	settling = time.Minute
	// settlingShare is the share of one CPU that reading the counters takes in this time.
	settlingShare = 0.1
	minCoverPause = 50 * time.Millisecond
)

// NewCoverage returns the coverage of a plan that only counts. It does not touch the kernel before Start.
func NewCoverage(fs *tracefs.FS, plan *uprobe.Plan, opt Options) *Coverage {
	return &Coverage{Ran: make(map[int]bool), fs: fs, plan: plan, opt: opt, spent: make(map[string]float64)}
}

// Start arms the probes. It defines all of them first, because the kernel searches its list for the event of each site that is
// appended to an event: the first sites of the events come first then (see tracefs).
func (c *Coverage) Start(ctx context.Context) (err error) {
	began := time.Now()
	_, c.nonce, _ = strings.Cut(c.plan.Events[0].Name, "_")
	var sites []uprobe.Site
	for i := range c.plan.Events {
		sites = append(sites, c.plan.Events[i].Sites...)
	}
	slices.SortFunc(sites, func(a, b uprobe.Site) int { return cmp.Compare(a.Offset, b.Offset) })
	size := 1
	if c.plan.Features.Append {
		size = max(coverSites, (len(sites)+maxCoverEvents-1)/maxCoverEvents)
	}
	c.cpu = procfs.NewCPUTimes(c.opt.PIDs, c.plan.Binary.File().Link())
	c.events = c.newEvents(slices.Collect(slices.Chunk(sites, size)))
	c.opt.Recorder.Quiet, c.opt.Recorder.Off = true, true
	c.slow = c.fs.ExpediteGracePeriods()
	if c.session, err = tracefs.Start(ctx, c.fs, c.plan.Target(), uprobe.TraceEvents(c.events), c.opt.Recorder); err != nil {
		return err
	}
	c.began = time.Now()
	c.Armed = c.began.Sub(began)
	c.define = c.Armed / time.Duration(len(sites))
	return nil
}

// newEvents returns an event for each list of sites.
func (c *Coverage) newEvents(lists [][]uprobe.Site) (events []uprobe.Event) {
	for _, list := range lists {
		events = append(events, uprobe.Event{Name: fmt.Sprintf("n%d_%s", c.made, c.nonce), Sites: list})
		c.made++
	}
	return events
}

// note notes the functions that have run by the counters of all events.
func (c *Coverage) note(profile [][]uint64) {
	for i := range profile {
		for k, hits := range profile[i] {
			if hits > 0 {
				c.Ran[c.events[i].Sites[k].Func] = true
			}
		}
	}
}

// Step does what is due: it reads the counters, and removes probes. It returns when the next step is due.
func (c *Coverage) Step(ctx context.Context) (next time.Time, err error) {
	if time.Now().After(c.next) {
		err = c.round(ctx)
	}
	return c.next, err
}

// round reads the counters and replaces the events whose hits cost too much.
func (c *Coverage) round(ctx context.Context) error {
	began := time.Now()
	profile, err := c.session.Profile()
	if err != nil {
		return err
	}
	c.note(profile)
	now := time.Now()
	share := settlingShare
	if now.Sub(c.began) > settling {
		share = c.opt.Budget
	}
	_, used := c.cpu.Used(true)
	costly := c.costly(profile, (used - c.cpuRead).Seconds())
	c.cpuRead = used
	if len(costly) == 0 && c.slow != nil {
		c.slow()
		c.slow = nil
	}
	err = c.replace(ctx, profile, costly)
	c.next = time.Now().Add(max(minCoverPause, time.Duration(float64(now.Sub(began))/share)))
	if len(costly) > 0 && share == settlingShare {
		c.next = time.Now().Add(minCoverPause)
	}
	return err
}

// costly returns the indexes of events to replace: those whose hits have cost as much as replacing them does, and the most
// costly ones as long as all hits of cpu seconds of the program's time cost more than half of the budget.
func (c *Coverage) costly(profile [][]uint64, cpu float64) (costly []int) {
	type event struct {
		i             int
		recent, total float64
	}
	var all []event
	recent := 0.0
	for i := range profile {
		e, ev := event{i: i}, &c.events[i]
		for k, hits := range profile[i] {
			cost := pairing.UsualCost.Emulated
			if ev.Sites[k].Stepped {
				cost = pairing.UsualCost.Stepped
			}
			e.total += float64(hits) * cost / 1e9
		}
		e.recent = e.total - c.spent[ev.Name]
		c.spent[ev.Name] = e.total
		if recent += e.recent; e.total > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b event) int { return cmp.Compare(b.recent, a.recent) })
	allowed, sites := c.opt.Budget*cpu/2, 0
	for _, e := range all {
		n := len(profile[e.i])
		if recent <= allowed && e.total < (time.Duration(n)*c.define).Seconds() {
			continue
		}
		if sites += n; sites > maxReplaced && len(costly) > 0 {
			break
		}
		recent -= e.recent
		costly = append(costly, e.i)
	}
	return costly
}

// replace replaces events by events with the sites that have not been hit.
func (c *Coverage) replace(ctx context.Context, profile [][]uint64, costly []int) error {
	if len(costly) == 0 {
		return nil
	}
	var lists [][]uprobe.Site
	old, sites := make(map[string]bool), 0
	for _, i := range costly {
		var left []uprobe.Site
		for k, hits := range profile[i] {
			if hits == 0 {
				left = append(left, c.events[i].Sites[k])
			}
		}
		if len(left) > 0 {
			lists, sites = append(lists, left), sites+len(left)
		}
		old[c.events[i].Name] = true
		delete(c.spent, c.events[i].Name)
	}
	events := c.newEvents(lists)
	c.events = append(c.events, events...)
	made, began := uprobe.TraceEvents(events), time.Now()
	if err := c.session.Extend(ctx, made); err != nil {
		return err
	}
	c.session.Join(made)
	if err := c.session.Arm(ctx, made); err != nil {
		return err
	}
	c.define = max(c.define, time.Since(began)/time.Duration(max(sites, 1)))
	err := c.session.Remove(old, c.note)
	c.events = slices.DeleteFunc(c.events, func(ev uprobe.Event) bool { return old[ev.Name] })
	return err
}

// Finish reads the counters for the last time.
func (c *Coverage) Finish() error {
	profile, err := c.session.Profile()
	if err == nil {
		c.note(profile)
	}
	return err
}

// Close removes all probes.
func (c *Coverage) Close() (err error) {
	if c.session != nil {
		err = c.session.Close()
	}
	if c.slow != nil {
		c.slow()
		c.slow = nil
	}
	c.plan.Binary.File().Release()
	return err
}

// Over reports why the run ends: all processes of -p have ended, or a process writes to the binary.
func (c *Coverage) Over() (ended, written bool) {
	ended = len(c.opt.PIDs) > 0 && !slices.ContainsFunc(c.opt.PIDs, procfs.Alive)
	return ended, c.plan.Binary.File().Written()
}

// Ended returns a channel that is closed when the command has ended. It is nil for no command.
func (c *Command) Ended() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.ended.Done()
}
