// Package uprobe is where Go and the kernel meet: it turns the sites of functions
// into events for package tracefs, and tells what an event at an address means.
//
// It decides which values each event fetches, so that package parse can find the
// goroutine and the depth of its stack in the line. It does no I/O of its own.
package uprobe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/parse"
)

// Event is one event of a plan. Its text is part of recordings.
type Event struct {
	Name string        `json:"name"`           // a C identifier, longer than a thread's name
	Args []tracefs.Arg `json:"args,omitempty"` // what each site fetches, unless it says otherwise
	// Counts has the number of words that each of Args yields, 0 for no array; nil if none is one.
	Counts []int  `json:"counts,omitempty"`
	Filter string `json:"filter,omitempty"` // what the kernel records hits by: see [tracefs.Event]
	PC     string `json:"-"`                // what definitions need: see [tracefs.Event]
	// Fields tells which word holds what, Words how many words of values there are.
	Fields Fields `json:"fields"`
	Words  int    `json:"-"`
	// Faults: the kernel follows nil pointers as it does others. It did not before it fetched arrays (4.20;
	// DEFINE_FETCH_deref in kernel/trace/trace_probe.c).
	Faults bool   `json:"-"`
	Sites  []Site `json:"-"` // where it is hit, at different addresses
}

// Site is an instruction that is probed, and what a hit of it means.
type Site struct {
	Kind         Kind   // what a hit means. Either all sites of an event count, see Kind.Counts, or none
	Addr, Offset uint64 // Addr is the virtual address in the file, Offset the place in the file
	// Func is the index in Plan.Funcs of the function that it is in; -1 for a runtime probe, which
	// belongs to no function that was asked for, or ProgramStart.
	Func int
	// Cond is that of a conditional jump, for [Plan].Processor: a call begins or ends if flags meet it.
	Cond arch.Cond
	// Stepped: the kernel single-steps it, which costs the program many times what emulation does.
	Stepped bool
	// Shared: an event before has a site there, too, so that this one takes no trap of its own.
	Shared bool
	Fetch  []string // what it fetches instead of the Fetch of each of the event's Args, if not nil
}

// fetches adds args to what the site fetches instead of the event's.
func (s *Site) fetches(args []tracefs.Arg) {
	for _, a := range args {
		s.Fetch = append(s.Fetch, a.Fetch)
	}
}

// counts tells whether hits are counted, rather than paired.
func (e *Event) counts() bool { return len(e.Sites) > 0 && e.Sites[0].Kind.Counts() }

// Formats are what lines and records of events hold.
func Formats(of []Event) []parse.Format {
	formats := make([]parse.Format, len(of))
	for i := range of {
		formats[i] = parse.Format{Event: of[i].Name, Len: of[i].Counts}
		for _, a := range of[i].Args {
			formats[i].Args = append(formats[i].Args, a.Name)
		}
	}
	return formats
}

// TraceEvents are events as tracefs wants them.
func TraceEvents(of []Event) []tracefs.Event {
	events := make([]tracefs.Event, len(of))
	for i := range of {
		e := &of[i]
		events[i] = tracefs.Event{Name: e.Name, Args: e.Args, Filter: e.Filter, PC: e.PC, Sites: make([]uint64, len(e.Sites)), Fetch: Fetches(e.Sites)}
		for k := range e.Sites {
			events[i].Sites[k] = e.Sites[k].Offset
		}
	}
	return events
}

// Fetches are what sites fetch instead of what their event says; nil if none does.
func Fetches(sites []Site) (all [][]string) {
	for i := range sites {
		if sites[i].Fetch != nil {
			all = append(all, make([][]string, len(sites)-len(all))...)
			all[i] = sites[i].Fetch
		}
	}
	return all
}

// Kind is what a hit of an event means.
type Kind uint8

const (
	Entry        Kind = iota // a call begins
	EntryJump                // a call begins if the stack check passed, as flags tell; else it begins anew
	Point                    // an instruction asked for by its place: a call of which no more is known
	Return                   // a call ends by a RET
	TailJump                 // a call ends by a jump into another function, which returns for both
	CondTail                 // the same by a conditional jump, if the flags say that it is taken
	GoroutineEnd             // the goroutine will not return into any of its calls
	Recovery                 // a panic was recovered: calls deeper than the one that recovered it are gone
	StackMove                // the stack of a goroutine has got new bounds
	Resume                   // the thread is about to go on with a goroutine
	Yield                    // the thread has left its goroutine, or will for one that is not known
	Status                   // a goroutine gets another status
	Park                     // a goroutine stops for the garbage collector
	Switch                   // the thread goes on with another goroutine, in whose favour its own waits
	Waiter                   // a goroutine may be about to wait: the stack tells where
	WaitOver                 // it is not any more
	Creation                 // a goroutine has been made, which has not run yet
	Counter                  // a call begins. It is counted, whether others time it or not
	CounterJump              // a Counter at a stack check's jump, as EntryJump is
	CheckFailed              // the stack check has failed of what the kernel has counted as a call: it was none
)

// IsEntry tells whether a hit may begin a call.
func (k Kind) IsEntry() bool { return k <= Point }

// Counts tells whether hits are counted, rather than paired.
func (k Kind) Counts() bool { return k >= Counter }

// Fields is where each value is among the words of an event's arguments, -1 where it is not fetched.
type Fields struct {
	SP       int // stack pointer; for Recovery the one that execution resumes with
	G        int // address of runtime.g
	Goid     int // goroutine id, 0 on a thread's system stack
	Hi       int // end of g's stack
	Lo       int // beginning of g's stack, where SP may lie on another
	Flags    int // what conditional jumps look at
	Old, New int // statuses of a goroutine, in the lower 32 bits
	Why      int `json:"-"` // the number of the reason why it waits, in the lower 8 bits
	By       int `json:"-"` // address of the g that has made the goroutine, 0 for none
	ByGoid   int `json:"-"` // its goroutine id
	Start    int `json:"-"` // address of the function that the goroutine begins with
	Stack    int // the first of Plan.StackWords words for [Callers]
	Values   int // the first word of what was asked for by Options.Values; the rest follow
}

// noFields is an event that fetches nothing.
var noFields = Fields{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// identity is how an event tells whose call it is.
type identity uint8

const (
	byG        identity = iota // a register holds g, and SP is on its stack
	byCheckedG                 // it may hold g and SP be on its stack; the bounds tell
	// byCheckG: a register holds g, since the stack check has just looked at it (where
	// Go keeps g in thread-local storage, out of reach).
	byCheckG
	byStack  // no register holds g; whose stack SP is on tells
	byThread // there is no g
)

// inRuntime tells whether a function is of package runtime.
func inRuntime(f *offsets.Func) bool { return strings.HasPrefix(f.Name, "runtime.") }

// arg is the fetcharg of argument i of a function of Go where it begins.
func (c *planner) arg(i int) string { return c.conv.Arg(c.machine.SP, i) }

// at is the fetcharg of what lies at a distance from an address.
func at(offset int64, address string) string { return fmt.Sprintf("%+d(%s)", offset, address) }

// words are fetchargs of NAME FETCH pairs. All numbers are s64, which every kernel prints in decimal.
func words(pairs ...string) (args []tracefs.Arg) {
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, tracefs.Arg{Name: pairs[i], Fetch: pairs[i+1], Type: "s64"})
	}
	return args
}

// arrayLen is the length of the array that a type stands for, 0 if it stands for none.
func arrayLen(typ string) int {
	_, length, _ := strings.Cut(typ, "[")
	n, _ := strconv.Atoi(strings.TrimSuffix(length, "]"))
	return n
}

// fieldsOf finds fields among words by their names.
func fieldsOf(args []tracefs.Arg) Fields {
	f := noFields
	at := map[string]*int{"sp": &f.SP, "g": &f.G, "id": &f.Goid, "hi": &f.Hi, "lo": &f.Lo, "fl": &f.Flags, "old": &f.Old, "new": &f.New, "why": &f.Why, "by": &f.By, "byid": &f.ByGoid, "pc": &f.Start}
	for i, a := range args {
		*at[a.Name] = i
	}
	return f
}

// fetch returns what an event of a kind fetches.
func (c *planner) fetch(kind Kind, id identity) []tracefs.Arg {
	sp := c.machine.SP
	register := c.conv.G
	if id == byCheckG {
		register = c.conv.CheckG
	}
	g := register.Fetch()
	// At a call of gogo(buf *gobuf): gobuf is sp, pc, g (runtime/runtime2.go), and resumes at sp.
	buf := sp.At(c.abi0.Outgoing)
	switch kind {
	case Point, Yield:
		return nil
	case Recovery:
		return words("sp", at(0, buf), "g", at(16, buf), "hi", at(c.stackHi, at(16, buf)))
	case Switch:
		return words("g", at(16, buf), "why", at(c.waitReason, at(16, buf)))
	case Resume: // at the beginning of execute(gp *g, inheritTime bool)
		return words("g", c.arg(0), "id", at(c.goid, c.arg(0)))
	case Status: // at casgstatus(gp *g, oldval, newval uint32)
		gp := c.arg(0)
		args := words("g", gp, "old", c.arg(1), "new", c.arg(2), "why", at(c.waitReason, gp), "id", at(c.goid, gp))
		if len(c.conv.Ints) == 0 { // two arguments share a word
			args[2].Fetch = sp.At(c.conv.StackArgs + 12)
		}
		if id == byStack { // nothing else tells as soon whose stack is whose
			args = append(args, words("lo", at(c.stackLo, gp), "hi", at(c.stackHi, gp))...)
		}
		return args
	case Park: // at preemptPark(gp *g)
		return words("g", c.arg(0))
	case StackMove:
		// At a return of copystack(gp *g, ...), with the argument above the return
		// address and the new bounds in place (runtime/stack.go).
		gp := sp.At(c.conv.StackArgs)
		return words("g", gp, "lo", at(c.stackLo, gp), "hi", at(c.stackHi, gp))
	case Creation:
		// At a return of newproc1, on the thread's own stack, whose m still has the goroutine that
		// executes the go statement. Where arguments are on the stack they are still there, the fourth
		// that goroutine, and the result behind them (runtime/proc.go).
		made, by := "", at(c.curg, at(c.m, c.conv.G.Fetch()))
		if len(c.conv.IntResults) > 0 {
			made = c.conv.IntResults[0].Fetch()
		} else {
			made, by = c.arg(5), c.arg(3)
		}
		// Behind m are g.sched.sp and pc, where it is to begin (gostartcallfn in runtime/stack.go).
		args := words("g", made, "id", at(c.goid, made), "by", by, "byid", at(c.goid, by), "pc", at(c.m+16, made))
		if id == byStack {
			args = append(args, words("lo", at(c.stackLo, made), "hi", at(c.stackHi, made))...)
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
	if kind == EntryJump || kind == CondTail {
		args = append(args, c.flags()...)
	}
	return args
}

// flags fetches what conditional jumps look at.
func (c *planner) flags() []tracefs.Arg { return words("fl", c.machine.Flags.Fetch()) }
