package uprobe

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

// Kind is what a hit of an event means.
type Kind uint8

const (
	// Entry: a call begins.
	Entry Kind = iota
	// EntryJump: a call begins if the stack check has passed, as the flags tell;
	// else the function is about to start again on a larger stack.
	EntryJump
	// Point: an instruction that was asked for by its place is executed. It is counted
	// as a call that nothing more is known of.
	Point
	// Return: a call ends by a RET.
	Return
	// TailJump: a call ends by a jump into another function, which returns for both.
	TailJump
	// CondTail: the same by a conditional jump, if the flags say that it is taken.
	CondTail
	// GoroutineEnd: the goroutine will not return into any of its calls.
	GoroutineEnd
	// Recovery: a panic was recovered, and all calls deeper than the one that
	// recovered it are gone.
	Recovery
	// StackMove: the stack of a goroutine has got new bounds.
	StackMove
)

// IsEntry tells whether a hit may begin a call.
func (k Kind) IsEntry() bool { return k <= Point }

// Mode is how much of each call is observed.
type Mode uint8

const (
	// Latency observes begin and end of each call.
	Latency Mode = iota
	// Count only counts the beginnings: the kernel's hit counter is read, and
	// nothing is recorded, but for hits that are no calls.
	Count
	// Entries observes beginnings only: who calls, and with what.
	Entries
	// CountRecorded counts recorded beginnings, for when the kernel's counter,
	// which knows no processes, counts too much.
	CountRecorded
)

// Event is one event of a plan.
type Event struct {
	tracefs.Event
	Kind Kind
	// Fields tells which argument holds what.
	Fields Fields
	// funcs[i] is the index in Plan.Funcs of the function that Sites[i] is in; -1
	// for a witness, which belongs to none.
	funcs []int
	// addrs[i] is the virtual address of Sites[i] in the file.
	addrs []uint64
	// conds[i] is the condition of the jump at Sites[i].
	conds []uint8
	index map[uint64]int // address → i
	// counts[i] is the number of words that Args[i] yields, 0 for one that is no array; nil
	// if none is.
	counts []int
}

// Counts is the number of words that each of Args yields, 0 for one that is no array; nil
// if none is.
func (e *Event) Counts() []int { return e.counts }

// Place is a site as a plan sees it.
type Place struct {
	// Addr is the virtual address in the file, Offset the place in the file.
	Addr, Offset uint64
	// Func is an index in Plan.Funcs, -1 for a witness.
	Func int
	// Cond is the condition of a conditional jump.
	Cond uint8
	// Fetch are the values' fetchargs where the event's sites differ in them.
	Fetch []string
}

// Add gives the event one more site. A second one at the same address is left out.
func (e *Event) Add(p Place) {
	if e.index == nil {
		e.index = make(map[uint64]int)
	}
	if _, twice := e.index[p.Addr]; twice {
		return
	}
	e.index[p.Addr] = len(e.Sites)
	e.Sites = append(e.Sites, p.Offset)
	e.addrs = append(e.addrs, p.Addr)
	e.funcs = append(e.funcs, p.Func)
	e.conds = append(e.conds, p.Cond)
	if p.Fetch != nil {
		e.Fetch = append(e.Fetch, p.Fetch)
	}
}

// Cond is the condition of the jump at a site, for [offsets.CondTaken].
func (e *Event) Cond(site int) uint8 { return e.conds[site] }

// Func is the index in Plan.Funcs of the function that a site is in; -1 for a
// witness, which belongs to no function that was asked for.
func (e *Event) Func(site int) int { return e.funcs[site] }

// Site finds the site at an address of the file, load bias taken off.
func (e *Event) Site(addr uint64) (site int, ok bool) {
	site, ok = e.index[addr]
	return site, ok
}

// Function is one function of a plan.
type Function struct {
	*offsets.Func
	// Sites is where its calls begin and end.
	Sites *offsets.Sites
	// Returns: its calls are seen to end.
	Returns bool
	// Point: it is one instruction, Sites.Entry, rather than a function.
	Point bool
	// Stepped: the kernel single-steps the instruction where its calls are seen to begin,
	// which costs the program many times more than one that it emulates.
	Stepped bool
	// Values are those fetched with its calls.
	Values Values
}

// Values is what to fetch of a function's calls.
type Values struct {
	// Entry is fetched where calls begin, Return where they end by a RET; nil is nothing.
	Entry, Return *capture.Capture
	// Filter is evaluated by the kernel where calls begin, in the names of Entry.Args;
	// of calls that fail it nothing but returns is recorded. Empty records all.
	Filter string
}

// Skipped is a function that was asked for and left out.
type Skipped struct {
	Func   *offsets.Func
	Reason error
}

// Plan is what to probe, and what a hit of it means.
type Plan struct {
	Binary  *offsets.Binary
	Mode    Mode
	Funcs   []Function
	Skipped []Skipped
	Events  []Event
	// BySP: calls are told apart by the stack pointer alone, since neither a thread nor
	// anything else that could be fetched stands for a goroutine (gccgo, whose stacks
	// never move).
	BySP bool
	// ByStack: where calls end, and where some begin, nothing tells the goroutine but
	// whose stack they are on (Go before 1.17).
	ByStack bool
}

// Options of a plan.
type Options struct {
	Mode Mode
	// Features is what the kernel can do.
	Features tracefs.Features
	// Points are single instructions to probe.
	Points []Instruction
	// Values tells what to fetch of a function's calls; nil is nothing. An error ends the
	// planning, unless it is one of LeaveOut.
	Values func(*offsets.Func, *offsets.Sites) (Values, error)
	// Decoded, if not nil, counts the functions that were decoded, for who wants to show
	// that New is at work: 100,000 take a second or more.
	Decoded *atomic.Int64
}

// Instruction is an instruction to probe, and what to call it: "main.get+0x1a".
type Instruction struct {
	Name string
	Func *offsets.Func
	Site offsets.Site
	// Again: it comes before the stack check and is executed again when that fails.
	Again bool
}

// New plans the probing of functions of a binary. Functions that can't be probed
// safely are in Plan.Skipped. Events are in the order that [tracefs.Start] wants:
// what begins calls, what ends them, and the witnesses of goroutines' ends.
func New(b *offsets.Binary, funcs []*offsets.Func, opt Options) (*Plan, error) {
	p := &Plan{Binary: b, Mode: opt.Mode}
	for _, r := range decodeAll(b, funcs, opt.Decoded) {
		if r.err != nil {
			p.Skipped = append(p.Skipped, Skipped{r.fn, r.err})
			continue
		}
		p.Funcs = append(p.Funcs, Function{Func: r.fn, Sites: r.sites, Returns: opt.Mode == Latency && len(r.sites.Returns)+len(r.sites.Tails)+len(r.sites.CondTails) > 0})
		p.BySP = p.BySP || r.sites.SplitStack
	}
	for _, i := range opt.Points {
		fn := &offsets.Func{Name: i.Name, Addr: i.Site.Addr(), Size: 1, ABI: i.Func.ABI}
		p.Funcs = append(p.Funcs, Function{Func: fn, Sites: &offsets.Sites{Entry: i.Site, Restarts: i.Again}, Point: true})
	}
	if len(p.Funcs) == 0 {
		return p, nil
	}
	if _, splits := b.Lookup("__morestack"); splits {
		p.BySP = true
	}
	nonce, err := newNonce()
	if err != nil {
		return nil, err
	}
	c := collector{plan: p, features: opt.Features, nonce: nonce, open: make(map[shape]int)}
	if opt.Values != nil {
		if err := p.addValues(opt.Values); err != nil {
			return nil, err
		}
		if len(p.Funcs) == 0 {
			return p, nil
		}
	}
	if v, isGo := b.GoVersion(); isGo && p.identifies() {
		if c.layout, err = b.Layout(); err != nil {
			return nil, err
		}
		p.ByStack = v.Minor < offsets.FirstRegisterABI
	}
	for i := range p.Funcs {
		c.addEntry(i)
	}
	if opt.Mode == Latency {
		for i := range p.Funcs {
			c.addEnds(i)
		}
		c.addWitnesses()
	}
	p.Events = c.sorted()
	return p, nil
}

// LeaveOut is an error that leaves a function out of a plan, with err for the reason.
func LeaveOut(err error) error { return leaveOut{err} }

type leaveOut struct{ error }

func (p *Plan) addValues(values func(*offsets.Func, *offsets.Sites) (Values, error)) error {
	kept := p.Funcs[:0]
	for _, f := range p.Funcs {
		if !f.Point {
			var err error
			var out leaveOut
			switch f.Values, err = values(f.Func, f.Sites); {
			case errors.As(err, &out):
				p.Skipped = append(p.Skipped, Skipped{f.Func, out.error})
				continue
			case err != nil:
				return err
			}
		}
		kept = append(kept, f)
	}
	p.Funcs = kept
	return nil
}

// identifies tells whether events say whose call they are of.
func (p *Plan) identifies() bool { return p.Mode == Latency || p.Mode == Entries }

// Filtered tells whether the kernel drops hits: its counts are then no measure of what
// should have been delivered.
func (p *Plan) Filtered() bool {
	return p.identifies() && slices.ContainsFunc(p.Events, func(e Event) bool { return e.Filter != "" })
}

// newNonce makes event names unique to a session, and long: a thread's name, which
// the target chooses and the kernel prints unescaped, has at most 15 bytes, so that
// it can't hold an event's name and forge a line.
func newNonce() (string, error) {
	var b [7]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("name events: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// TraceEvents are the plan's events for [tracefs.Start], in the plan's order.
func (p *Plan) TraceEvents() []tracefs.Event {
	events := make([]tracefs.Event, len(p.Events))
	for i := range p.Events {
		events[i] = p.Events[i].Event
	}
	return events
}

// Target is the file to probe: the one that was decoded, under whatever name.
func (p *Plan) Target() tracefs.Target {
	return tracefs.Target{Path: fmt.Sprintf("/proc/self/fd/%d", p.Binary.Fd()), Unchanged: p.Binary.Unchanged}
}

// Probes is the number of sites.
func (p *Plan) Probes() int {
	n := 0
	for i := range p.Events {
		n += len(p.Events[i].Sites)
	}
	return n
}
