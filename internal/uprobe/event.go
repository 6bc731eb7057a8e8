// Package uprobe is where Go and the kernel meet: it turns the sites of functions
// into events for package tracefs, and tells what an event at an address means.
//
// It decides which values each event fetches, so that package parse can find the
// goroutine and the depth of its stack in the line. It does no I/O of its own.
package uprobe

import (
	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/parse"
	"github.com/ftgo/ftgo/tracefs"
)

// Event is one event of a plan. Its text is part of recordings.
type Event struct {
	// Name is a C identifier, longer than a thread's name.
	Name string `json:"name"`
	// Args are what each site fetches, unless it says otherwise.
	Args []tracefs.Arg `json:"args,omitempty"`
	// Counts is the number of words that each of Args yields, 0 for one that is no array; nil
	// if none is.
	Counts []int `json:"counts,omitempty"`
	// Filter is what the kernel records hits by: see [tracefs.Event].
	Filter string `json:"filter,omitempty"`
	// Fields tells which word holds what, Words how many words of values there are.
	Fields Fields `json:"fields"`
	Words  int    `json:"-"`
	// Sites are where it is hit, at different addresses.
	Sites []Site `json:"-"`
}

// Site is an instruction that is probed, and what a hit of it means.
type Site struct {
	// Kind is what a hit means. Either all sites of an event count, see Kind.Counts, or none.
	Kind Kind
	// Addr is the virtual address in the file, Offset the place in the file.
	Addr, Offset uint64
	// Func is the index in Plan.Funcs of the function that it is in; -1 for a runtime probe, which
	// belongs to no function that was asked for, or ProgramStart.
	Func int
	// Cond is the condition of a conditional jump, for [Plan].Processor: a call begins, or ends,
	// if the jump's flags say so.
	Cond arch.Cond
	// Stepped: the kernel single-steps the instruction, which costs the program many times more
	// than one that it emulates.
	Stepped bool
	// Fetch is what it fetches instead of the Fetch of each of the event's Args, if not nil.
	Fetch []string
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
		events[i] = tracefs.Event{Name: e.Name, Args: e.Args, Filter: e.Filter, Sites: make([]uint64, len(e.Sites)), Fetch: Fetches(e.Sites)}
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
	// Resume: the thread is about to go on with a goroutine.
	Resume
	// Yield: the thread has left its goroutine, or will for one that is not known.
	Yield
	// Status: a goroutine gets another status.
	Status
	// Park: a goroutine stops for the garbage collector.
	Park
	// Switch: the thread goes on with another goroutine, in whose favour its own waits.
	Switch
	// Counter: a call begins. It is counted, whether others time it or not.
	Counter
	// CounterJump is a Counter at a stack check's jump, as EntryJump is.
	CounterJump
)

// IsEntry tells whether a hit may begin a call.
func (k Kind) IsEntry() bool { return k <= Point }

// Counts tells whether hits are counted, rather than paired.
func (k Kind) Counts() bool { return k >= Counter }
