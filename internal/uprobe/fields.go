package uprobe

import (
	"fmt"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/arch"
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
	Flags int // what conditional jumps look at
	// Old and New are statuses of a goroutine, in the lower 32 bits.
	Old, New int
	// Stack is the first of Plan.StackWords words for [Callers].
	Stack int
	// Values is the first word of what was asked for by Options.Values; the rest follow.
	Values int
}

// noFields is an event that fetches nothing.
var noFields = Fields{SP: -1, G: -1, Goid: -1, Hi: -1, Lo: -1, Flags: -1, Old: -1, New: -1, Stack: -1, Values: -1}

// identity is how an event tells whose call it is.
type identity uint8

const (
	// byG: a register holds g, and SP is on its stack.
	byG identity = iota
	// byCheckedG: it may hold g and SP be on its stack; the bounds tell.
	byCheckedG
	// byCheckG: a register holds g, since the stack check has just looked at it (where
	// Go keeps g in thread-local storage, out of reach).
	byCheckG
	// byStack: no register holds g; whose stack SP is on tells.
	byStack
	// byThread: there is no g.
	byThread
)

// identityOf says how calls of a function are told apart, where they begin and
// where they end.
//
// In Go code a register is g, and SP is on g's stack. The exceptions: assembly (ABI0) may
// be entered from C or use the register for itself; and in package runtime a signal handler
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

// fetcher knows where a binary keeps what events fetch.
type fetcher struct {
	machine *arch.Machine
	// conv is how functions of Go pass values, abi0 how assembly does.
	conv, abi0 *arch.CallConv
	// goid, stackLo and stackHi are where runtime.g has them.
	goid, stackLo, stackHi int64
}

func newFetcher(b *offsets.Binary) fetcher {
	minor, _ := b.GoVersion()
	p := b.Processor()
	return fetcher{machine: p.Machine(), conv: p.Go(minor, false), abi0: p.Go(minor, true)}
}

// arg is the fetcharg of argument i of a function of Go where it begins.
func (x *fetcher) arg(i int) string { return x.conv.Arg(x.machine.SP, i) }

// at is the fetcharg of what lies at a distance from an address.
func at(offset int64, address string) string { return fmt.Sprintf("+%d(%s)", offset, address) }

// fetch returns what an event of a kind fetches. All numbers are s64, which every
// kernel prints in decimal.
func (x *fetcher) fetch(kind Kind, id identity) ([]tracefs.Arg, Fields) {
	f := noFields
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
		buf := x.machine.SP.At(x.abi0.Outgoing)
		add(&f.SP, "sp", at(0, buf))
		add(&f.G, "g", at(16, buf))
		add(&f.Hi, "hi", at(x.stackHi, at(16, buf)))
		return args, f
	case Yield:
		return nil, f
	case Resume:
		// At the beginning of execute(gp *g, inheritTime bool).
		add(&f.G, "g", x.arg(0))
		add(&f.Goid, "id", at(x.goid, x.arg(0)))
		return args, f
	case Status:
		// At casgstatus(gp *g, oldval, newval uint32).
		add(&f.G, "g", x.arg(0))
		add(&f.Old, "old", x.arg(1))
		add(&f.New, "new", x.arg(2))
		return args, f
	case Park:
		add(&f.G, "g", x.arg(0)) // preemptPark(gp *g)
		return args, f
	case Switch:
		// At a call of gogo(buf *gobuf), as for Recovery.
		add(&f.G, "g", at(16, x.machine.SP.At(x.abi0.Outgoing)))
		return args, f
	case StackMove:
		// At a return of copystack(gp *g, ...), with the argument above the return
		// address and the new bounds in place (runtime/stack.go).
		gp := x.machine.SP.At(x.conv.StackArgs)
		add(&f.G, "g", gp)
		add(&f.Lo, "lo", at(x.stackLo, gp))
		add(&f.Hi, "hi", at(x.stackHi, gp))
		return args, f
	}
	register := x.conv.G
	if id == byCheckG {
		register = x.conv.CheckG
	}
	g := register.Fetch()
	if kind == GoroutineEnd {
		add(&f.G, "g", g)
		return args, f
	}
	add(&f.SP, "sp", x.machine.SP.Fetch())
	if id <= byCheckG {
		add(&f.G, "g", g)
		add(&f.Hi, "hi", at(x.stackHi, g))
		if id != byG {
			add(&f.Lo, "lo", at(x.stackLo, g))
		}
		if kind.IsEntry() {
			add(&f.Goid, "id", at(x.goid, g))
		}
	}
	if kind == EntryJump || kind == CondTail {
		add(&f.Flags, "fl", x.machine.Flags.Fetch())
	}
	return args, f
}
