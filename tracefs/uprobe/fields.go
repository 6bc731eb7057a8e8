package uprobe

import (
	"fmt"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// Fields is the position of each value among the words that an event's arguments yield, -1
// where it is not fetched.
type Fields struct {
	SP    int // stack pointer; for Recovery the one that execution resumes with
	G     int // address of runtime.g
	Goid  int // goroutine id, 0 on a thread's system stack
	Hi    int // end of g's stack
	Lo    int // beginning of g's stack, where SP may lie on another
	Flags int // RFLAGS
	// Old and New are statuses of a goroutine, in the lower 32 bits.
	Old, New int
	// Stack is the first of Plan.StackWords words for [Callers].
	Stack int
	// Values is the first word of what was asked for by Options.Values; the rest follow.
	Values int
}

// NoFields is an event that fetches nothing.
var NoFields = Fields{SP: -1, G: -1, Goid: -1, Hi: -1, Lo: -1, Flags: -1, Old: -1, New: -1, Stack: -1, Values: -1}

// identity is how an event tells whose call it is.
type identity uint8

const (
	// byG: R14 holds g, and SP is on its stack.
	byG identity = iota
	// byCheckedG: R14 may hold g and SP be on its stack; the bounds tell.
	byCheckedG
	// byCheckG: RCX holds g, since the stack check has just looked at it (before
	// Go 1.17, which keeps g in thread-local storage, out of reach).
	byCheckG
	// byStack: no register holds g; whose stack SP is on tells.
	byStack
	// byThread: there is no g.
	byThread
)

// identityOf says how calls of a function are told apart, where they begin and
// where they end.
//
// In Go code R14 is g, and SP is on g's stack. The exceptions: assembly (ABI0) may
// be entered from C or use R14 for itself; and in package runtime a signal handler
// runs on a stack of its own before it switches g.
func identityOf(f *Function, tlsG bool) (begin, end identity) {
	switch {
	case f.ABI == offsets.SystemV:
		return byThread, byThread
	case tlsG && f.Sites.Check != nil:
		return byCheckG, byStack
	case tlsG:
		return byStack, byStack
	case f.ABI == offsets.ABI0 || f.Package() == "runtime":
		return byCheckedG, byCheckedG
	}
	return byG, byG
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
	case Point:
		return nil, f
	case Recovery:
		// At the call of gogo(buf *gobuf): gobuf begins with sp, pc, g
		// (runtime/runtime2.go), and execution resumes at sp.
		add(&f.SP, "sp", "+0(+0(%sp))")
		add(&f.G, "g", "+16(+0(%sp))")
		add(&f.Hi, "hi", fmt.Sprintf("+%d(+16(+0(%%sp)))", l.StackHi))
		return args, f
	case Yield:
		return nil, f
	case Resume:
		// At the beginning of execute(gp *g, inheritTime bool).
		gp := "%ax"
		if id == byStack {
			gp = "+8(%sp)"
		}
		add(&f.G, "g", gp)
		nested := fmt.Sprintf("+%d(%s)", l.Goid, gp)
		add(&f.Goid, "id", nested)
		return args, f
	case Status:
		// At casgstatus(gp *g, oldval, newval uint32).
		add(&f.G, "g", "%ax")
		add(&f.Old, "old", "%bx")
		add(&f.New, "new", "%cx")
		return args, f
	case Park:
		add(&f.G, "g", "%ax") // preemptPark(gp *g)
		return args, f
	case Switch:
		// At a call of gogo(buf *gobuf), as for Recovery.
		add(&f.G, "g", "+16(+0(%sp))")
		return args, f
	case StackMove:
		// At a return of copystack(gp *g, ...), with the argument above the return
		// address and the new bounds in place (runtime/stack.go).
		add(&f.G, "g", "+8(%sp)")
		add(&f.Lo, "lo", fmt.Sprintf("+%d(+8(%%sp))", l.StackLo))
		add(&f.Hi, "hi", fmt.Sprintf("+%d(+8(%%sp))", l.StackHi))
		return args, f
	}
	register := "%r14"
	if id == byCheckG {
		register = "%cx"
	}
	if kind == GoroutineEnd {
		add(&f.G, "g", register)
		return args, f
	}
	add(&f.SP, "sp", "%sp")
	if id <= byCheckG {
		add(&f.G, "g", register)
		add(&f.Hi, "hi", fmt.Sprintf("+%d(%s)", l.StackHi, register))
		if id != byG {
			add(&f.Lo, "lo", fmt.Sprintf("+%d(%s)", l.StackLo, register))
		}
		if kind.IsEntry() {
			add(&f.Goid, "id", fmt.Sprintf("+%d(%s)", l.Goid, register))
		}
	}
	if kind == EntryJump || kind == CondTail {
		add(&f.Flags, "fl", "%flags")
	}
	return args, f
}
