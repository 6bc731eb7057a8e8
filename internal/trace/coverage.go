package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Coverage finds the functions of a plan that ever run, in any process of the file. It reads the kernel's counters and
// records nothing. The probe of a function that has run is of no more use, so Coverage removes it: the cost of probes falls to
// nearly nothing.
//
// The kernel disarms an event as a whole. So Coverage first arms a new event with the other sites of the event, and then
// disarms the old one. No call is missed in between, and the breakpoints of the other sites stay in place.
type Coverage struct {
	Ran     map[int]bool // the functions that have run, as indexes of Plan.Funcs
	plan    *uprobe.Plan
	opt     Options
	session *tracefs.Session
	events  []uprobe.Event     // the events of the session
	made    int                // the number of events so far
	spent   map[string]float64 // the cost of hits in seconds by event, at the last reading of the counters
	armed   time.Time          // when all probes were armed
	next    time.Time          // when the counters are read next
	cpu     *procfs.CPUTimes   // of the program
	cpuRead time.Duration      // the program's CPU time at the last reading
	slow    func()             // ends the expedited grace periods
}

const (
	// coverSites is the number of sites of an event. To remove one site, all others are defined again, which takes defineTime a
	// site if 30,000 sites exist; and each event takes a grace period at the end.
	coverSites = 128
	defineTime = 500 * time.Microsecond
	// maxCoverEvents limits the number of events by giving them more sites.
	maxCoverEvents = 400
	// maxReplaced is the number of sites that are defined again at once, before the counters are read again.
	maxReplaced = 2000
	// settling is the time in which probes of hot functions are removed as soon as possible. Reading the counters takes
	// settlingShare of one CPU then.
	settling      = time.Minute
	settlingShare = 0.1
	minCoverPause = 50 * time.Millisecond
)

// StartCoverage arms the probes of a plan that only counts, except those of functions that are known to have run. Close must be
// called, also after an error.
//
// It defines all sites at once, because the kernel finds the event of a site fast if the first sites of all events come first
// in its list.
func StartCoverage(ctx context.Context, fs *tracefs.FS, plan *uprobe.Plan, ran map[int]bool, opt Options) (c *Coverage, err error) {
	var sites []uprobe.Site
	for i := range plan.Events {
		sites = append(sites, plan.Events[i].Sites...)
	}
	sites = slices.DeleteFunc(sites, func(s uprobe.Site) bool { return ran[s.Func] })
	slices.SortFunc(sites, func(a, b uprobe.Site) int { return cmp.Compare(a.Offset, b.Offset) })
	size := 1
	if plan.Features.Append {
		size = max(coverSites, (len(sites)+maxCoverEvents-1)/maxCoverEvents)
	}
	opt.Recorder.Quiet, opt.Recorder.Off = true, true
	c = &Coverage{Ran: ran, plan: plan, opt: opt, spent: make(map[string]float64)}
	c.cpu = procfs.NewCPUTimes(opt.PIDs, plan.Binary.File().Link())
	c.slow = sync.OnceFunc(fs.ExpediteGracePeriods())
	c.session, err = tracefs.Start(ctx, fs, plan.Target(), c.newEvents(slices.Collect(slices.Chunk(sites, size))), opt.Recorder)
	c.armed = time.Now()
	return c, err
}

// newEvents adds an event for each list of sites to c.events, and returns the new events.
func (c *Coverage) newEvents(lists [][]uprobe.Site) []tracefs.Event {
	_, nonce, _ := strings.Cut(c.plan.Events[0].Name, "_")
	for _, list := range lists {
		c.events = append(c.events, uprobe.Event{Event: tracefs.Event{Name: fmt.Sprintf("n%d_%s", c.made, nonce)}, Sites: list})
		c.made++
	}
	return uprobe.TraceEvents(c.events[len(c.events)-len(lists):])
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

// Read reads the counters.
func (c *Coverage) Read() ([][]uint64, error) {
	profile, err := c.session.Profile()
	c.note(profile)
	return profile, err
}

// Step reads the counters and replaces the events whose hits cost too much, if it is time. It returns when the next step is
// due.
func (c *Coverage) Step(ctx context.Context) (next time.Time, err error) {
	began := time.Now()
	if began.Before(c.next) {
		return c.next, nil
	}
	profile, err := c.Read()
	if err != nil {
		return next, err
	}
	took, share := time.Since(began), settlingShare
	if time.Since(c.armed) > settling {
		share = c.opt.Budget
	}
	_, used := c.cpu.Used(true)
	costly := c.costly(profile, (used - c.cpuRead).Seconds())
	c.cpuRead = used
	pause := time.Duration(float64(took) / share)
	if len(costly) == 0 {
		c.slow()
	} else if err = c.replace(ctx, profile, costly); share == settlingShare {
		pause = 0
	}
	c.next = time.Now().Add(max(pause, minCoverPause))
	return c.next, err
}

// costly returns the indexes of events to replace: those whose hits have cost as much as replacing them does, and the most
// costly ones as long as all hits of cpu seconds of the program's time cost more than half of the budget.
func (c *Coverage) costly(profile [][]uint64, cpu float64) (costly []int) {
	recent, total, sum := make([]float64, len(profile)), make([]float64, len(profile)), 0.0
	var order []int // of the events with hits
	for i := range profile {
		for k, hits := range profile[i] {
			cost := pairing.UsualCost.Emulated
			if c.events[i].Sites[k].Stepped {
				cost = pairing.UsualCost.Stepped
			}
			total[i] += float64(hits) * cost / 1e9
		}
		name := c.events[i].Name
		recent[i], c.spent[name] = total[i]-c.spent[name], total[i]
		if sum += recent[i]; total[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(recent[j], recent[i]) })
	sites := 0
	for _, i := range order {
		n := len(profile[i])
		if sum <= c.opt.Budget*cpu/2 && total[i] < float64(n)*defineTime.Seconds() || sites > 0 && sites+n > maxReplaced {
			continue
		}
		costly, sites, sum = append(costly, i), sites+n, sum-recent[i]
	}
	return costly
}

// replace replaces events by events with the sites that have not been hit.
func (c *Coverage) replace(ctx context.Context, profile [][]uint64, costly []int) error {
	var lists [][]uprobe.Site
	old := make(map[string]bool)
	for _, i := range costly {
		var left []uprobe.Site
		for k, hits := range profile[i] {
			if hits == 0 {
				left = append(left, c.events[i].Sites[k])
			}
		}
		if len(left) > 0 {
			lists = append(lists, left)
		}
		old[c.events[i].Name] = true
		delete(c.spent, c.events[i].Name)
	}
	made := c.newEvents(lists)
	if err := c.session.Extend(ctx, made); err != nil {
		return err
	}
	c.session.Join(made)
	if err := c.session.Arm(ctx, made); err != nil {
		return err
	}
	err := c.session.Remove(old, c.note)
	c.events = slices.DeleteFunc(c.events, func(ev uprobe.Event) bool { return old[ev.Name] })
	return err
}

// Close removes all probes.
func (c *Coverage) Close() (err error) {
	if c.session != nil {
		err = c.session.Close()
	}
	c.slow()
	c.plan.Binary.File().Release()
	return err
}

// Over reports why the run ends: all processes of -p have ended, or a process writes to the binary.
func (c *Coverage) Over() (ended, written bool) {
	ended = len(c.opt.PIDs) > 0 && !slices.ContainsFunc(c.opt.PIDs, procfs.Alive)
	return ended, c.plan.Binary.File().Written()
}

// Ended returns a context that is canceled when the process has ended.
func (c *Command) Ended() context.Context { return c.ended }
