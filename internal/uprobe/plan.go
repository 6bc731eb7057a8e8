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

// Mode is how much of each call is observed.
type Mode uint8

const (
	Latency Mode = iota // observes begin and end of each call
	// Count only counts the beginnings: the kernel's hit counter is read, and
	// nothing is recorded, but for hits that are no calls.
	Count
	Entries // observes beginnings only: who calls, and with what
	// CountRecorded counts recorded beginnings, since the kernel's counter knows no processes.
	CountRecorded
)

// Probe is a function of a plan, or a single instruction. What recordings have of it is tagged.
type Probe struct {
	*offsets.Func `json:"-"`

	Sites   *offsets.Sites `json:"-"`                 // where its calls begin and end
	Returns bool           `json:"returns,omitempty"` // its calls are seen to end
	Point   bool           `json:"point,omitempty"`   // it is one instruction, Sites.Entry, rather than a function. Sites.Restarts: it may be executed twice in a call
	Stepped bool           `json:"stepped,omitempty"` // so is the instruction where its calls are seen to begin ([Site].Stepped)
	Later   bool           `json:"-"`                 // all its events are of [Plan.Again]
	Values  Values         `json:"-"`                 // those fetched with its calls
	Err     error          `json:"-"`                 // why it can't be probed, of those of [Plan.Skipped]
}

// Values is what to fetch of a function's calls.
type Values struct {
	// Entry is fetched where calls begin, Return where they end by a RET; nil is nothing.
	Entry, Return *capture.Capture
	// Filter is evaluated by the kernel where calls begin, in the names of Entry.Args;
	// of calls that fail it nothing but returns is recorded. Empty records all.
	Filter string
	// Fails: what is fetched where calls return tells whether they have failed.
	Fails bool
}

// Plan is what to probe, and what a hit of it means. What recordings have of it is tagged.
type Plan struct {
	Binary    *offsets.Binary `json:"-"`
	Processor arch.Processor  `json:"-"` // the one that the binary is for
	Mode      Mode            `json:"mode"`
	Funcs     []Probe         `json:"-"`
	Skipped   []Probe         `json:"-"` // those that were asked for and left out
	Events    []Event         `json:"-"`
	// BySP: calls are told apart by the stack pointer alone, since nothing that can be fetched stands
	// for a goroutine, not even a thread (gccgo, whose stacks never move).
	BySP bool `json:"by_sp,omitempty"`
	// ByStack: where calls end, and where some begin, nothing tells the goroutine but
	// whose stack they are on (where no register holds it).
	ByStack     bool `json:"by_stack,omitempty"`
	Stack       int  `json:"stack,omitempty"`       // how many callers are fetched where calls begin
	Relocatable bool `json:"relocatable,omitempty"` // addresses in a process are not those in the file
	// Threads, Sched, Follows and Recorded: Options has asked for them, and the binary has what they take.
	Threads  bool `json:"-"`
	Sched    bool `json:"-"`
	Follows  bool `json:"follows,omitempty"`
	Recorded bool `json:"-"`
	Regroups int  `json:"regroups,omitempty"` // see Options.Regroups
	// Runtime are the addresses of package runtime, from and until, where Follows is set: goroutines that
	// begin there are started for the whole program, by whoever comes by.
	Runtime [][2]uint64 `json:"runtime,omitempty"`
	// Reasons are names of the reasons why goroutines wait, by their numbers, where Sched is set: the
	// last, which is none of the runtime's, is that the goroutine's thread waits in the kernel.
	Reasons []string `json:"-"`
	// Waits is how many of Funcs, the last, stand for the Reasons: waits are taken for their calls.
	Waits int `json:"-"`
}

// Asked is how many of Funcs were asked for: the first ones.
func (p *Plan) Asked() int { return len(p.Funcs) - p.Waits }

// Reason is the index of a reason that the runtime has given.
func (p *Plan) Reason(why uint64) int {
	if why &= 0xff; why < uint64(p.InKernel()) {
		return int(why)
	}
	return 0
}

// InKernel is the index of the last of Reasons.
func (p *Plan) InKernel() int { return len(p.Reasons) - 1 }

// StackWords is the number of words that are fetched for the callers of a call.
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
	Points   []Probe          // single instructions, which are probed, too
	// Stack is how many callers to fetch where calls begin, at most MaxStack. It is no more
	// than one of Go before 1.7, which keeps no frame pointers. Not for counting.
	Stack int
	// Values tells what to fetch of calls; nil is nothing. Errors end the planning, but for LeaveOut's.
	Values func(*offsets.Func, *offsets.Sites) (Values, error)
	// Threads adds runtime probes, hit each time that a thread changes to another goroutine.
	Threads   bool
	Returning bool // calls end by returning, and no other way; no others are looked for
	// Sched adds runtime probes of the scheduler, hit each time that a goroutine begins to wait, can go
	// on, or goes on. It is for Latency. New fails where the scheduler is not known.
	Sched bool
	// Follow adds a runtime probe where goroutines are made, hit by each go statement: it tells which
	// calls goroutines were started in. Where they can't be followed, they are not: see Plan.Follows.
	Follow bool
	// Waits, which implies Sched, has waits of goroutines told as if they were calls: those in calls
	// of the functions, or, if these are none, all.
	Waits bool
	// First is how many sites the plan is to have at once: functions that follow when it has as many are
	// Later. 0 is all of them.
	First    int
	Recorded bool // they are counted by recorded hits, for the same reason as in CountRecorded
	// Regroups, unless it is 0, is how many functions share events: their probes come and go together
	// while the plan is in use.
	Regroups int
	// Progress, if not nil, is told how far New is, by several goroutines: 100,000 functions take a second
	// or more.
	Progress func(what string, done, of int)
}

// New plans the probing of functions of a binary. Functions that can't be probed
// safely are in Plan.Skipped. Events are in the order that [tracefs.Start] wants:
// what begins calls, what ends them, and the runtime probes of goroutines' ends.
func New(b *offsets.Binary, funcs []*offsets.Func, opt Options) (*Plan, error) {
	p := &Plan{Binary: b, Processor: b.File().Processor, Mode: opt.Mode, Relocatable: b.File().Relocatable(), Recorded: opt.Recorded, Regroups: opt.Regroups}
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
		f.Later = opt.First > 0 && sites >= opt.First
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
		// They fetch memory, and without that there are calls of C alone, which need none.
		if !opt.Returning && c.features.Memory {
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

// LeaveOut is an error that leaves a function out of a plan, with err for the reason.
func LeaveOut(err error) error { return leaveOut{err} }

type leaveOut struct{ error }

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
		switch out, ok := errors.AsType[leaveOut](err); {
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

// sites is how many the plan will have, but for runtime probes.
func (p *Plan) sites() (n int) {
	for i := range p.Funcs {
		n += p.Funcs[i].places(p.Mode == Latency)
	}
	return n
}

// places is how many sites the function has if its calls are timed, or not.
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

// identifies tells whether events say whose call they are of.
func (p *Plan) identifies() bool { return p.Mode == Latency || p.Mode == Entries }

// Filtered tells whether the kernel drops hits: its counts don't say what should be delivered then.
func (p *Plan) Filtered() bool {
	return p.identifies() && slices.ContainsFunc(p.Events, func(e Event) bool { return e.Filter != "" && !e.counts() })
}

// newNonce makes event names unique to a session, and long: a thread's name, which
// the target chooses and the kernel prints unescaped, has at most 15 bytes, so that
// it can't hold an event's name and forge a line.
//
// It is read from a file, since getrandom(2) waits, for minutes at worst, where little has
// happened since the machine was started (Linux before 5.6).
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

// Target is the file to probe: the one that was decoded, under whatever name.
func (p *Plan) Target() tracefs.Target {
	return tracefs.Target{Path: p.Binary.File().Link(), Unchanged: p.Binary.File().Unchanged}
}

// Probes is the number of sites.
func (p *Plan) Probes() int {
	n := 0
	for i := range p.Events {
		n += len(p.Events[i].Sites)
	}
	return n
}

// Later is the number of sites of functions that have no events at first.
func (p *Plan) Later() (n int) {
	for i := range p.Funcs {
		if f := &p.Funcs[i]; f.Later {
			n += f.places(p.Mode == Latency)
		}
	}
	return n
}

// Again makes events for functions of the plan that others were made for before, or that are Later; counts: they only count calls in a
// plan that times them. They are for tracefs.Session.Extend, and not the plan's before they are appended to its Events, which has
// to come before Again is asked again, as names go by their number. New was given the same features.
func (p *Plan) Again(on tracefs.Features, funcs []int, counts bool) ([]Event, error) {
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
