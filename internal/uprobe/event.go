// Package uprobe is where Go and the kernel meet: it turns the sites of functions
// into events for package tracefs, and knows the meaning of an event at an address.
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
	Args []tracefs.Arg `json:"args,omitempty"` // fetched at each site without a Fetch of its own
	// Counts has the length of each of Args that is an array, 0 for others; nil without arrays.
	Counts []int  `json:"counts,omitempty"`
	Filter string `json:"filter,omitempty"` // of hits, evaluated by the kernel: see [tracefs.Event]
	PC     string `json:"-"`                // part of definitions: see [tracefs.Event]
	// Fields has the meaning of each word. Words is the number of words of values.
	Fields Fields `json:"fields"`
	Words  int    `json:"-"`
	// Faults: the kernel follows nil pointers as it does others. It did not before it fetched arrays (4.20;
	// DEFINE_FETCH_deref in kernel/trace/trace_probe.c).
	Faults bool   `json:"-"`
	Sites  []Site `json:"-"` // probed instructions, at different addresses
}

// Site is a probed instruction, and the meaning of its hits.
type Site struct {
	Kind         Kind   // the meaning of a hit. Either all sites of an event count, see Kind.Counts, or none
	Addr, Offset uint64 // Addr is the virtual address in the file, Offset the place in the file
	// Func is the index of its function in Plan.Funcs; -1 for a runtime probe, which
	// belongs to none of these functions, or ProgramStart.
	Func int
	// Cond is the condition of a jump, for [Plan].Processor: a call begins or ends if the flags meet it.
	Cond arch.Cond
	// Stepped: the kernel single-steps it, which costs the program many times what emulation does.
	Stepped bool
	// Shared: an earlier event has a site at this address, too, and both take one trap.
	Shared bool
	Fetch  []string // fetched instead of the Fetch of each of the event's Args, if not nil
}

// fetches appends args to the site's own Fetch.
func (s *Site) fetches(args []tracefs.Arg) {
	for _, a := range args {
		s.Fetch = append(s.Fetch, a.Fetch)
	}
}

// counts reports whether hits are counted, rather than paired.
func (e *Event) counts() bool { return len(e.Sites) > 0 && e.Sites[0].Kind.Counts() }

// Formats returns the formats of lines and records of events.
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

// TraceEvents converts events for package tracefs.
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

// Fetches returns the Fetch of each site, nil if no site has one.
func Fetches(sites []Site) (all [][]string) {
	for i := range sites {
		if sites[i].Fetch != nil {
			all = append(all, make([][]string, len(sites)-len(all))...)
			all[i] = sites[i].Fetch
		}
	}
	return all
}

// Kind is the meaning of a hit.
type Kind uint8

const (
	Entry        Kind = iota // a call begins
	EntryJump                // a call begins if the stack check passed, as flags tell; else it begins anew
	Point                    // an instruction that the user named: a call without an end
	Return                   // a call ends by a RET
	TailJump                 // a call ends by a jump into another function, which returns for both
	CondTail                 // the same by a conditional jump, if the flags say that it is taken
	GoroutineEnd             // the goroutine will not return into any of its calls
	Recovery                 // a panic was recovered: calls deeper than the one that recovered it are gone
	StackMove                // the stack of a goroutine has got new bounds
	Resume                   // the thread is about to go on with a goroutine
	Yield                    // the thread has left its goroutine, or will leave it for an unknown one
	Status                   // a goroutine gets another status
	Park                     // a goroutine stops for the garbage collector
	Switch                   // the thread goes on with another goroutine, in whose favour its own waits
	Waiter                   // a goroutine may be about to wait: its stack says where
	WaitOver                 // it did not wait, or no longer does
	Creation                 // a goroutine has been made, which has not run yet
	Counter                  // a call begins. It is counted, whether others time it or not
	CounterJump              // a Counter at a stack check's jump, as EntryJump is
	CheckFailed              // a stack check has failed: what the kernel counted as a call was none
)

// IsEntry reports whether a hit may begin a call.
func (k Kind) IsEntry() bool { return k <= Point }

// Counts reports whether hits are counted, rather than paired.
func (k Kind) Counts() bool { return k >= Counter }

// Fields has the index of each value in the words of an event's arguments, -1 if it is not fetched.
type Fields struct {
	SP          int // stack pointer; at a Recovery the one that execution resumes with
	G           int // address of runtime.g
	Goid        int // goroutine id, 0 on a thread's system stack
	Hi          int // end of g's stack
	Lo          int // beginning of g's stack, where SP may lie on another
	Flags       int // the flags that conditional jumps test
	Old, New    int // statuses of a goroutine, in the lower 32 bits
	WaitReason  int `json:"-"` // the number of the reason why it waits, in the lower 8 bits
	Creator     int `json:"-"` // address of the g that has made the goroutine, 0 for none
	CreatorGoid int `json:"-"` // its goroutine id
	Start       int `json:"-"` // address of the function that the goroutine begins with
	Stack       int // the first of Plan.StackWords words for [Callers]
	Values      int // the first word of Options.Values; the others follow
}

// noFields is for an event that fetches nothing.
var noFields = Fields{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// identity says how an event identifies the goroutine of a call.
type identity uint8

const (
	byG        identity = iota // a register holds g, and SP is on its stack
	byCheckedG                 // a register may hold g and SP be on its stack: the stack's bounds decide
	// byCheckG: a register holds g because the stack check has just read it (where
	// Go keeps g in thread-local storage, which can't be fetched).
	byCheckG
	byStack  // no register holds g: the stack that SP is on identifies it
	byThread // there is no g
)

// inRuntime reports whether a function belongs to package runtime.
func inRuntime(f *offsets.Func) bool { return strings.HasPrefix(f.Name, "runtime.") }

// arg returns the fetcharg of argument i at the beginning of a Go function.
func (c *planner) arg(i int) string { return c.conv.Arg(c.machine.SP, i) }

// at returns the fetcharg of memory at an offset from an address.
func at(offset int64, address string) string { return fmt.Sprintf("%+d(%s)", offset, address) }

// words returns fetchargs of NAME FETCH pairs. All are s64, which every kernel prints in decimal.
func words(pairs ...string) (args []tracefs.Arg) {
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, tracefs.Arg{Name: pairs[i], Fetch: pairs[i+1], Type: "s64"})
	}
	return args
}

// arrayLen returns the length of an array type, 0 for other types.
func arrayLen(typ string) int {
	_, length, _ := strings.Cut(typ, "[")
	n, _ := strconv.Atoi(strings.TrimSuffix(length, "]"))
	return n
}

// fieldsOf finds fields by the names of args.
func fieldsOf(args []tracefs.Arg) Fields {
	f := noFields
	at := map[string]*int{"sp": &f.SP, "g": &f.G, "id": &f.Goid, "hi": &f.Hi, "lo": &f.Lo, "fl": &f.Flags, "old": &f.Old, "new": &f.New, "why": &f.WaitReason, "by": &f.Creator, "byid": &f.CreatorGoid, "pc": &f.Start}
	for i, a := range args {
		*at[a.Name] = i
	}
	return f
}

// fetch returns the args of an event of a kind.
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
		if id == byStack { // no other event has the bounds of the stack as early
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
		// At a return of newproc1, on the thread's own stack. The thread's m still has the goroutine that
		// executes the go statement. Arguments on the stack are still there: the fourth is
		// that goroutine, and the result follows the arguments (runtime/proc.go).
		made, by := "", at(c.curg, at(c.m, c.conv.G.Fetch()))
		if len(c.conv.IntResults) > 0 {
			made = c.conv.IntResults[0].Fetch()
		} else {
			made, by = c.arg(5), c.arg(3)
		}
		// g.sched.sp and pc follow m: the goroutine will begin at pc (gostartcallfn in runtime/stack.go).
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

// flags fetches the flags that conditional jumps test.
func (c *planner) flags() []tracefs.Arg { return words("fl", c.machine.Flags.Fetch()) }
