package uprobe

import (
	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/tracefs"
)

// Event is one event of a plan.
type Event struct {
	// Name is a C identifier, longer than a thread's name.
	Name string
	// Args are what each site fetches, unless it says otherwise.
	Args []tracefs.Arg
	// Counts is the number of words that each of Args yields, 0 for one that is no array; nil
	// if none is.
	Counts []int
	// Filter is what the kernel records hits by: see [tracefs.Event].
	Filter string
	// Fields tells which word holds what, Words how many words of values there are.
	Fields Fields
	Words  int
	// Sites are where it is hit, at different addresses.
	Sites []Site
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

// counts tells whether hits are counted, rather than paired.
func (e *Event) counts() bool { return len(e.Sites) > 0 && e.Sites[0].Kind.Counts() }

// TraceEvents are events as tracefs wants them.
func TraceEvents(of []Event) []tracefs.Event {
	events := make([]tracefs.Event, len(of))
	for i := range of {
		e := &of[i]
		events[i] = tracefs.Event{Name: e.Name, Args: e.Args, Filter: e.Filter, Sites: make([]uint64, len(e.Sites))}
		for k := range e.Sites {
			s := &e.Sites[k]
			events[i].Sites[k] = s.Offset
			if s.Fetch != nil && events[i].Fetch == nil {
				events[i].Fetch = make([][]string, len(e.Sites))
			}
			if s.Fetch != nil {
				events[i].Fetch[k] = s.Fetch
			}
		}
	}
	return events
}
