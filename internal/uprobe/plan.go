package uprobe

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// Mode says how much of each call is observed.
type Mode uint8

const (
	Latency Mode = iota // observes begin and end of each call
	// Count only counts the beginnings: the kernel's hit counter is read, and
	// nothing is recorded except hits that are not calls.
	Count
	Entries // observes beginnings only: the caller and the arguments
	// CountRecorded counts recorded beginnings, because the kernel's counter does not distinguish processes.
	CountRecorded
)

// Probe is a function of a plan, or a single instruction. What recordings have of it is tagged.
type Probe struct {
	*offsets.Func `json:"-"`

	Sites    *offsets.Sites `json:"-"`                 // where its calls begin and end
	Returns  bool           `json:"returns,omitempty"` // its calls are seen to end
	Point    bool           `json:"point,omitempty"`   // it is one instruction, Sites.Entry, rather than a function. Sites.Restarts: it may be executed twice in a call
	Stepped  bool           `json:"stepped,omitempty"` // the kernel single-steps the instruction where its calls are seen to begin ([Site].Stepped)
	Deferred bool           `json:"-"`                 // all its events are of [Plan.EventsFor]
	Values   Values         `json:"-"`                 // fetched with its calls
	Err      error          `json:"-"`                 // why it can't be probed, in [Plan.Skipped]
}

// Values says what to fetch of a function's calls.
type Values struct {
	// Entry is fetched where calls begin, Return where they end by a RET; nil is nothing.
	Entry, Return *capture.Capture
	// Filter is a condition on Entry.Args, by their names, which the kernel evaluates where calls begin;
	// of calls that fail it only returns are recorded. Empty records all.
	Filter string
	// Fails: the value that Return fetches says whether a call has failed.
	Fails bool
}

// Plan lists what to probe, and the meaning of hits. Recordings have the fields with names in their tags.
type Plan struct {
	Binary    *offsets.Binary `json:"-"`
	Processor arch.Processor  `json:"-"` // of the binary
	Mode      Mode            `json:"mode"`
	Funcs     []Probe         `json:"-"`
	Skipped   []Probe         `json:"-"` // requested, but left out
	Events    []Event         `json:"-"`
	// BySP: only the stack pointer identifies a call, because no value that can be fetched identifies
	// a goroutine, nor does the thread (gccgo, whose stacks never move).
	BySP bool `json:"by_sp,omitempty"`
	// ByStack: where calls end, and where some begin, only the stack that they are on identifies
	// the goroutine (where no register holds it).
	ByStack     bool `json:"by_stack,omitempty"`
	Stack       int  `json:"stack,omitempty"`       // the number of callers that are fetched where calls begin
	Relocatable bool `json:"relocatable,omitempty"` // addresses in a process differ from those in the file
	// Threads, Sched, Follows and Recorded: Options requests them, and the binary supports them.
	Threads   bool `json:"-"`
	Sched     bool `json:"-"`
	Follows   bool `json:"follows,omitempty"`
	Recorded  bool `json:"-"`
	GroupSize int  `json:"regroups,omitempty"` // see Options.GroupSize
	// Runtime has the address ranges of package runtime if Follows is set: a goroutine that
	// begins there serves the whole program, whichever call has started it.
	Runtime [][2]uint64 `json:"runtime,omitempty"`
	// Reasons are the names of the reasons why goroutines wait, by number, if Sched is set. The
	// last is not the runtime's: the goroutine's thread waits in the kernel.
	Reasons []string `json:"-"`
	// Waits is the number of Funcs, at their end, that stand for the Reasons: a wait is a call of one.
	Waits int `json:"-"`
}

// RequestedFuncs is the number of Funcs, at their beginning, that were requested.
func (p *Plan) RequestedFuncs() int { return len(p.Funcs) - p.Waits }

// Reason returns the index of a reason, by its number in the runtime.
func (p *Plan) Reason(why uint64) int {
	if why &= 0xff; why < uint64(p.SyscallReason()) {
		return int(why)
	}
	return 0
}

// InKernel returns the index of the last of Reasons.
func (p *Plan) SyscallReason() int { return len(p.Reasons) - 1 }

// StackWords returns the number of words that are fetched for the callers of a call.
func (p *Plan) StackWords() int {
	if p.Stack <= 1 {
		return p.Stack
	}
	return 2 * p.Stack
}

// Options of a plan.
type Options struct {
	Mode     Mode
	Features tracefs.Features // what the kernel can do
	Points   []Probe          // single instructions to probe
	// Stack is the number of callers to fetch where calls begin, at most MaxStack, and at most
	// one in programs of Go before 1.7, which keeps no frame pointers. Not for counting.
	Stack int
	// Values returns what to fetch of a function's calls; nil fetches nothing. An error ends the planning, unless it is SkipFunc's.
	Values func(*offsets.Func, *offsets.Sites) (Values, error)
	// Threads adds runtime probes that are hit each time a thread changes to another goroutine.
	Threads     bool
	ReturnsOnly bool // calls end only by returning; other ends are not probed
	// Sched adds runtime probes of the scheduler, hit each time a goroutine begins to wait, becomes
	// runnable, or runs. It is for Latency. New fails if the scheduler is not known.
	Sched bool
	// Follow adds a runtime probe where goroutines are created, hit by each go statement: it identifies the
	// call that has started a goroutine. Plan.Follows says whether the binary allows that.
	Follow bool
	// Waits, which implies Sched, reports waits of goroutines as if they were calls: waits in calls
	// of the functions, or, without functions, all waits.
	Waits bool
	// First is the number of sites that the plan has at once: functions beyond it are
	// Later. 0 is no limit.
	FirstSites int
	Recorded   bool // calls are counted by recorded hits, for the same reason as in CountRecorded
	// GroupSize, unless it is 0, is the number of functions that share events: their probes are placed and removed together
	// while the plan is in use.
	GroupSize int
	// Progress, if not nil, is called with the progress of New, by several goroutines: 100,000 functions take a second
	// or more.
	Progress func(what string, done, of int)
}

// New plans the probing of functions of a binary. Functions that can't be probed
// safely are in Plan.Skipped. Events are in the order that [tracefs.Start] needs:
// beginnings of calls, ends of calls, and the runtime probes of goroutines' ends.
func New(b *offsets.Binary, funcs []*offsets.Func, opt Options) (*Plan, error) {
	p := &Plan{Binary: b, Processor: b.File().Processor, Mode: opt.Mode, Relocatable: b.File().Relocatable(), Recorded: opt.Recorded, GroupSize: opt.GroupSize}
	_, p.BySP = b.Lookup("__morestack")
	sites := 0
	for _, point := range opt.Points {
		if point.Err != nil {
			p.Skipped = append(p.Skipped, point)
		}
	}
	for _, f := range decodeAll(b, funcs, opt.Progress) {
		if f.Err != nil {
			p.Skipped = append(p.Skipped, f)
			continue
		}
		f.Returns = opt.Mode == Latency && len(f.Sites.Returns)+len(f.Sites.Tails)+len(f.Sites.CondTails) > 0
		f.Deferred = opt.FirstSites > 0 && sites >= opt.FirstSites
		sites += f.places(opt.Mode == Latency)
		p.Funcs = append(p.Funcs, f)
		p.BySP = p.BySP || f.Sites.SplitStack
	}
	for _, point := range opt.Points {
		if point.Err == nil {
			p.Funcs = append(p.Funcs, point)
		}
	}
	if err := p.addValues(&opt); err != nil || len(p.Funcs) == 0 && (!opt.Waits || len(funcs)+len(opt.Points) > 0) {
		return p, err
	}
	nonce, err := newNonce()
	if err != nil {
		return nil, err
	}
	if p.identifies() {
		p.Stack = min(opt.Stack, deepest(framesOf(b)))
		if !framesOf(b).Kept {
			p.Stack = min(p.Stack, 1)
		}
	}
	c, err := newPlanner(p, opt.Features, nonce)
	if err != nil {
		return nil, err
	}
	minor, _ := b.GoVersion()
	p.ByStack = minor > 0 && p.identifies() && c.conv.G == ""
	c.addFuncs()
	if opt.Mode == Latency {
		// These probes fetch memory. Kernels that can't do that time only calls of C, which need no such probes.
		if !opt.ReturnsOnly && c.features.Memory {
			c.addEndProbes()
		}
		p.Threads = opt.Threads && c.addThreadProbes()
		p.Follows = opt.Follow && c.addCreation()
		if p.Sched = opt.Sched || opt.Waits; p.Sched {
			if err := c.addSchedProbes(); err != nil {
				return nil, err
			}
		}
		if opt.Waits {
			c.addWaits()
		}
	}
	p.Events = c.sorted()
	return p, nil
}

// SkipFunc returns an error that leaves a function out of a plan because of err.
func SkipFunc(err error) error { return skipFunc{err} }

type skipFunc struct{ error }

func (p *Plan) addValues(opt *Options) error {
	kept := p.Funcs[:0]
	for i, f := range p.Funcs {
		var err error
		if opt.Values != nil && !f.Point {
			f.Values, err = opt.Values(f.Func, f.Sites)
			if opt.Progress != nil {
				opt.Progress("functions whose variables were found", i+1, len(p.Funcs))
			}
		}
		switch out, ok := errors.AsType[skipFunc](err); {
		case ok:
			f.Err = out.error
			p.Skipped = append(p.Skipped, f)
		case err != nil:
			return err
		default:
			kept = append(kept, f)
		}
	}
	p.Funcs = kept
	return nil
}

// sites returns the number of sites of the plan without runtime probes.
func (p *Plan) sites() (n int) {
	for i := range p.Funcs {
		n += p.Funcs[i].places(p.Mode == Latency)
	}
	return n
}

// places returns the number of sites of the function, depending on whether its calls are timed.
func (f *Probe) places(timed bool) int {
	switch {
	case timed:
	case f.Sites.Again != nil:
		return 2
	default:
		return 1
	}
	return 1 + len(f.Sites.Returns) + len(f.Sites.Tails) + len(f.Sites.CondTails)
}

// identifies reports whether events identify the goroutine of a call.
func (p *Plan) identifies() bool { return p.Mode == Latency || p.Mode == Entries }

// Filtered reports whether the kernel drops hits: then its counters do not say how many hits must be delivered.
func (p *Plan) Filtered() bool {
	return p.identifies() && slices.ContainsFunc(p.Events, func(e Event) bool { return e.Filter != "" && !e.counts() })
}

// newNonce makes event names unique to a session, and long: a thread's name, which
// the target chooses and the kernel prints unescaped, has at most 15 bytes. So
// it can't contain an event's name and forge a line.
//
// It is read from a file, because getrandom(2) may block for minutes soon after
// a machine was started (Linux before 5.6).
func newNonce() (string, error) {
	var b [7]byte
	f, err := os.Open("/dev/urandom")
	if err == nil {
		_, err = io.ReadFull(f, b[:])
		f.Close()
	}
	if err != nil {
		return "", fmt.Errorf("name events: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// Target returns the file to probe: the one that was decoded, whatever its name leads to by now.
func (p *Plan) Target() tracefs.Target {
	return tracefs.Target{Path: p.Binary.File().Link(), Unchanged: p.Binary.File().Unchanged}
}

// Probes returns the number of sites.
func (p *Plan) Probes() int {
	n := 0
	for i := range p.Events {
		n += len(p.Events[i].Sites)
	}
	return n
}

// Later returns the number of sites of functions that have no events at first.
func (p *Plan) DeferredSites() (n int) {
	for i := range p.Funcs {
		if f := &p.Funcs[i]; f.Deferred {
			n += f.places(p.Mode == Latency)
		}
	}
	return n
}

// Again makes new events for functions of the plan, whether they had events before or are Later. counts: the events only count calls
// in a plan that times them. They are for tracefs.Session.Extend. The caller appends them to the plan's Events before it calls
// Again for others, because the number of events becomes part of their names. The features must be those of New.
func (p *Plan) EventsFor(on tracefs.Features, funcs []int, counts bool) ([]Event, error) {
	_, nonce, _ := strings.Cut(p.Events[0].Name, "_")
	c, err := newPlanner(p, on, nonce)
	if err != nil {
		return nil, err
	}
	c.made = len(p.Events)
	for _, i := range funcs {
		c.addEntry(i, counts)
	}
	for _, i := range funcs {
		if p.Mode == Latency && !counts {
			c.addEnds(i)
		}
	}
	return c.sorted(), nil
}
