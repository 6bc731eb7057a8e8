package uprobe

import (
	"fmt"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// Fields is the position of each value among an event's arguments, -1 where it is
// not fetched.
type Fields struct {
	SP    int // stack pointer; for Recovery the one that execution resumes with
	G     int // address of runtime.g
	Goid  int // goroutine id, 0 on a thread's system stack
	Hi    int // end of g's stack
	Lo    int // beginning of g's stack, where SP may lie on another
	Flags int // RFLAGS
}

// NoFields is an event that fetches nothing.
var NoFields = Fields{SP: -1, G: -1, Goid: -1, Hi: -1, Lo: -1, Flags: -1}

// identity is how an event tells whose call it is.
type identity uint8

const (
	// byG: R14 holds g, and SP is on its stack.
	byG identity = iota
	// byCheckedG: R14 may hold g and SP be on its stack; the bounds tell.
	byCheckedG
	// byThread: there is no g.
	byThread
)

// identityOf says how calls of a function are told apart.
//
// In Go code R14 is g, and SP is on g's stack. The exceptions: assembly (ABI0) may
// be entered from C or use R14 for itself; and in package runtime a signal handler
// runs on a stack of its own before it switches g.
func identityOf(f *offsets.Func) identity {
	switch {
	case f.ABI == offsets.SystemV:
		return byThread
	case f.ABI == offsets.ABI0 || f.Package() == "runtime":
		return byCheckedG
	}
	return byG
}

// fetch returns what an event of a kind fetches. All numbers are s64, which every
// kernel prints in decimal.
func fetch(kind Kind, id identity, l offsets.GoroutineLayout) ([]tracefs.Arg, Fields) {
	f := NoFields
	var args []tracefs.Arg
	add := func(pos *int, name, from string) {
		*pos = len(args)
		args = append(args, tracefs.Arg{Name: name, Fetch: from, Type: "s64"})
	}
	switch kind {
	case Recovery:
		// At the call of gogo(buf *gobuf): gobuf begins with sp, pc, g
		// (runtime/runtime2.go), and execution resumes at sp.
		add(&f.SP, "sp", "+0(+0(%sp))")
		add(&f.G, "g", "+16(+0(%sp))")
		add(&f.Hi, "hi", fmt.Sprintf("+%d(+16(+0(%%sp)))", l.StackHi))
		return args, f
	case GoroutineEnd:
		add(&f.G, "g", "%r14")
		return args, f
	}
	add(&f.SP, "sp", "%sp")
	if id != byThread {
		add(&f.G, "g", "%r14")
		add(&f.Hi, "hi", fmt.Sprintf("+%d(%%r14)", l.StackHi))
		if id == byCheckedG {
			add(&f.Lo, "lo", fmt.Sprintf("+%d(%%r14)", l.StackLo))
		}
		if kind.IsEntry() {
			add(&f.Goid, "id", fmt.Sprintf("+%d(%%r14)", l.Goid))
		}
	}
	if kind == EntryJump {
		add(&f.Flags, "fl", "%flags")
	}
	return args, f
}
