// Package uprobe plans the probes of Go functions: it turns the sites of functions into events for package tracefs, and
// defines the meaning of a hit at each site.
//
// It decides which values each event fetches, so that package pairing can find the goroutine and the stack depth of a
// hit. Apart from reading random bytes for event names, it does no I/O of its own.
package uprobe

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// Event is an event of tracefs, in a [Plan]. Recordings contain the fields that have JSON names.
type Event struct {
	// Event has a name that is longer than a thread's. Its Sites and Fetch are empty, see [TraceEvents].
	tracefs.Event
	// Fields gives the index of each fetched value in the words of a hit. Words is the number of words from
	// Fields.Values on.
	Fields Fields `json:"fields"`
	Words  int    `json:"-"`
	// Faults: the kernel follows nil pointers like other pointers, which causes page faults. All kernels that can fetch
	// arrays do this (4.20). Older kernels stop at nil (DEFINE_FETCH_deref in kernel/trace/trace_probe.c).
	Faults bool   `json:"-"`
	Sites  []Site `json:"sites"` // the probed instructions, at different addresses
}

// Site is a probed instruction and the meaning of its hits. Recordings contain the fields that have JSON names.
type Site struct {
	Kind   Kind   `json:"kind"` // the meaning of a hit; except in mode Count, Kind.Counts is the same for all sites of an event
	Addr   uint64 `json:"addr"` // the virtual address in the file
	Offset uint64 `json:"-"`    // the file offset
	// Func is the index of the function in Plan.Funcs. It is -1 for a runtime probe, which belongs to no function of
	// the plan, and ProgramStart for the probe at the start of the program.
	Func int `json:"func"`
	// Cond is the condition of a jump, which [Plan].Processor evaluates. A call begins or ends if the flags meet Cond.
	Cond arch.Cond `json:"cond"`
	// Stepped: the kernel single-steps the instruction, which costs the program many times more than emulation.
	Stepped bool `json:"stepped,omitempty"`
	// Shared: an earlier event has a site at the same address, so one trap causes the hits of both sites.
	Shared bool     `json:"shared,omitempty"`
	Fetch  []string `json:"fetch,omitempty"` // Fetch[i] replaces Fetch of the event's Args[i]; nil replaces none
}

// appendFetch appends the fetchargs of args to Fetch.
func (s *Site) appendFetch(args []tracefs.Arg) {
	for _, a := range args {
		s.Fetch = append(s.Fetch, a.Fetch)
	}
}

// counts reports whether hits are only counted, not paired as the begin and end of calls.
func (e *Event) counts() bool { return len(e.Sites) > 0 && e.Sites[0].Kind.Counts() }

// Formats returns the formats in which package parse reads hits of events.
func Formats(of []Event) []parse.Format {
	formats := make([]parse.Format, len(of))
	for i := range of {
		formats[i].Event = of[i].Name
		for _, a := range of[i].Args {
			formats[i].Args, formats[i].Len = append(formats[i].Args, a.Name), append(formats[i].Len, ArrayLen(a))
		}
	}
	return formats
}

// TraceEvents returns the events with the offsets of their sites.
func TraceEvents(of []Event) []tracefs.Event {
	events := make([]tracefs.Event, len(of))
	for i := range of {
		e := &of[i]
		events[i] = e.Event
		for _, s := range e.Sites {
			events[i].Sites, events[i].Fetch = append(events[i].Sites, s.Offset), append(events[i].Fetch, s.Fetch)
		}
	}
	return events
}

// Kind is the meaning of a hit.
type Kind uint8

const (
	Entry        Kind = iota // a call begins
	EntryJump                // a call begins if the flags show that the stack check passed; otherwise the function starts over
	Point                    // the program reaches an instruction that the user named: a call without an end
	Return                   // a call ends by a RET
	TailJump                 // a call ends by a jump into another function, which returns to the caller
	CondTail                 // a call ends by a conditional TailJump, if the flags meet the condition
	GoroutineEnd             // the goroutine ends without returning from its calls
	Recovery                 // a panic was recovered: calls deeper than the one that recovered it have ended
	StackMove                // the stack of a goroutine has new bounds
	Resume                   // the thread is about to run a goroutine
	Yield                    // the thread has left its goroutine, or will leave it for an unknown goroutine
	Status                   // the status of a goroutine changes
	Park                     // a goroutine stops for the garbage collector
	Switch                   // the thread leaves its goroutine, which waits, and runs another one
	Waiter                   // a goroutine may be about to wait. The hit fetches the goroutine's callers
	WaitOver                 // a goroutine that has hit a Waiter did not wait, or has stopped waiting
	Creation                 // a goroutine was created, and has not run yet
	Counter                  // a call begins, and is counted whether or not other events time it
	CounterJump              // a call begins as at an EntryJump, and is counted as at a Counter
	Arrival                  // a call of the function Options.To begins, which ends a call of the plan's pair
	ArrivalJump              // such a call begins as at an EntryJump
)

// IsEntry reports whether a hit may begin a call.
func (k Kind) IsEntry() bool { return k <= Point }

// Counts reports whether hits are only counted, not paired as the begin and end of calls.
func (k Kind) Counts() bool { return k == Counter || k == CounterJump }

// Fields gives the index of each value in the words of an event's arguments. The index of a value that is not fetched
// is -1.
type Fields struct {
	SP          int // stack pointer; at a Recovery, the stack pointer with which execution resumes
	G           int // address of the goroutine's runtime.g
	Goid        int // goroutine id, 0 on a thread's system stack
	Hi          int // end of g's stack
	Lo          int // beginning of g's stack, for kinds where SP may be on another stack
	Flags       int // the flags that conditional jumps test
	Old, New    int // statuses of a goroutine before and after a change, in the lower 32 bits
	WaitReason  int // why the goroutine waits: the runtime's number of the reason, in the lower 8 bits
	Creator     int // address of the g that has created the goroutine, or 0
	CreatorGoid int // the creator's goroutine id
	Start       int // address of the function that the goroutine begins with
	Stack       int // the first of Plan.StackWords words for [Callers]
	Values      int // the first word of the function's values; their other words follow
}

// noFields are the Fields of an event without arguments.
var noFields = Fields{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// identity is the way in which an event identifies the goroutine of a call.
type identity uint8

const (
	byG        identity = iota // a register holds g, and SP is on g's stack
	byCheckedG                 // a register probably holds g. SP is on g's stack if SP is within the bounds of this stack
	// byCheckG: a register holds g because the stack check has just loaded it. byCheckG is for versions of Go that keep
	// g in thread-local storage, which can't be fetched.
	byCheckG
	byStack  // no register holds g, but SP identifies the stack and so the goroutine
	byThread // no goroutine is known, only the thread
)

// inRuntime reports whether a function belongs to package runtime.
func inRuntime(f *offsets.Func) bool { return strings.HasPrefix(f.Name, "runtime.") }

// arg returns the fetcharg of argument i at the entry of a Go function.
func (c *planner) arg(i int) string { return c.conv.Arg(c.machine.SP, i) }

// at returns the fetcharg of the memory at an offset from an address.
func at(offset int64, address string) string { return fmt.Sprintf("%+d(%s)", offset, address) }

// words returns an argument for each pair of a name and a fetcharg. All arguments are of type s64, because every kernel
// prints this type in decimal.
func words(pairs ...string) (args []tracefs.Arg) {
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, tracefs.Arg{Name: pairs[i], Fetch: pairs[i+1], Type: "s64"})
	}
	return args
}

// ArrayLen returns the length of an argument that is an array, otherwise 0.
func ArrayLen(a tracefs.Arg) int {
	_, length, _ := strings.Cut(a.Type, "[")
	n, _ := strconv.Atoi(strings.TrimSuffix(length, "]"))
	return n
}

// fieldsOf returns the Fields of an event with these args, which it finds by their names.
func fieldsOf(args []tracefs.Arg) Fields {
	f := noFields
	at := map[string]*int{"sp": &f.SP, "g": &f.G, "id": &f.Goid, "hi": &f.Hi, "lo": &f.Lo, "fl": &f.Flags, "old": &f.Old, "new": &f.New, "why": &f.WaitReason, "by": &f.Creator, "byid": &f.CreatorGoid, "pc": &f.Start}
	for i, a := range args {
		*at[a.Name] = i
	}
	return f
}

// fetch returns the arguments of an event of a kind that identifies goroutines by id.
func (c *planner) fetch(kind Kind, id identity) []tracefs.Arg {
	sp := c.machine.SP
	g := cmp.Or(c.conv.G, c.conv.CheckG).Fetch()
	// buf is the argument at a call of gogo(buf *gobuf). A gobuf has sp, pc and g (runtime/runtime2.go), and execution
	// resumes with its sp.
	buf := sp.At(c.abi0.Outgoing)
	switch kind {
	case Point, Yield:
		return nil
	case Recovery:
		return words("sp", at(0, buf), "g", at(16, buf), "hi", at(c.stackHi, at(16, buf)))
	case Switch:
		return words("g", at(16, buf), "why", at(c.waitReason, at(16, buf)))
	case Resume: // at the entry of execute(gp *g, inheritTime bool)
		return words("g", c.arg(0), "id", at(c.goid, c.arg(0)))
	case Status: // at casgstatus(gp *g, oldval, newval uint32)
		gp := c.arg(0)
		args := words("g", gp, "old", c.arg(1), "new", c.arg(2), "why", at(c.waitReason, gp), "id", at(c.goid, gp))
		if len(c.conv.Ints) == 0 { // oldval and newval share a word on the stack
			args[2].Fetch = sp.At(c.conv.StackArgs + 12)
		}
		if c.plan.ByStack { // this is the first event that can fetch the bounds of the stack
			args = append(args, words("lo", at(c.stackLo, gp), "hi", at(c.stackHi, gp))...)
		}
		return args
	case Park: // at preemptPark(gp *g)
		return words("g", c.arg(0))
	case StackMove:
		// At a return of copystack(gp *g, ...): the argument is above the return address, and gp has the new
		// bounds (runtime/stack.go).
		gp := sp.At(c.conv.StackArgs)
		return words("g", gp, "lo", at(c.stackLo, gp), "hi", at(c.stackHi, gp))
	case Creation:
		// At a return of newproc1, on the thread's system stack. The thread's m still has the goroutine that
		// executes the go statement. If arguments are on the stack, they are still there: the fourth is that
		// goroutine, and the result follows the arguments (runtime/proc.go).
		created, creator := "", at(c.curg, at(c.m, c.conv.G.Fetch()))
		if len(c.conv.IntResults) > 0 {
			created = c.conv.IntResults[0].Fetch()
		} else {
			created, creator = c.arg(5), c.arg(3)
		}
		// g.sched, with sp and pc, follows g.m. The goroutine will begin at pc (gostartcallfn in runtime/stack.go).
		args := words("g", created, "id", at(c.goid, created), "by", creator, "byid", at(c.goid, creator), "pc", at(c.m+16, created))
		if c.plan.ByStack {
			args = append(args, words("lo", at(c.stackLo, created), "hi", at(c.stackHi, created))...)
		}
		return args
	case Waiter:
		return words("sp", sp.Fetch(), "g", g, "hi", at(c.stackHi, g))
	case GoroutineEnd, WaitOver:
		return words("g", g)
	}
	args := words("sp", sp.Fetch())
	if id <= byCheckG {
		args = append(args, words("g", g, "hi", at(c.stackHi, g))...)
		if id != byG {
			args = append(args, words("lo", at(c.stackLo, g))...)
		}
		if kind.IsEntry() {
			args = append(args, words("id", at(c.goid, g))...)
		}
	}
	if kind == EntryJump || kind == CondTail || kind == ArrivalJump {
		args = append(args, c.flags()...)
	}
	return args
}

// flags returns the argument for the flags that conditional jumps test.
func (c *planner) flags() []tracefs.Arg { return words("fl", c.machine.Flags.Fetch()) }
