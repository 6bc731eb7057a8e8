package uprobe

import (
	"fmt"
	"strings"

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
var noFields = Fields{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

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
	case f.ABI == offsets.ABI0 || inRuntime(f.Func):
		return byCheckedG, byCheckedG
	}
	return byG, byG
}

// inRuntime tells whether a function is of package runtime.
func inRuntime(f *offsets.Func) bool { return strings.HasPrefix(f.Name, "runtime.") }

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

// words are fetchargs of NAME FETCH pairs. All numbers are s64, which every kernel prints in decimal.
func words(pairs ...string) (args []tracefs.Arg) {
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, tracefs.Arg{Name: pairs[i], Fetch: pairs[i+1], Type: "s64"})
	}
	return args
}

// fieldsOf finds fields among words by their names.
func fieldsOf(args []tracefs.Arg) Fields {
	f := noFields
	at := map[string]*int{"sp": &f.SP, "g": &f.G, "id": &f.Goid, "hi": &f.Hi, "lo": &f.Lo, "fl": &f.Flags, "old": &f.Old, "new": &f.New}
	for i, a := range args {
		*at[a.Name] = i
	}
	return f
}

// fetch returns what an event of a kind fetches.
func (x *fetcher) fetch(kind Kind, id identity) []tracefs.Arg {
	sp := x.machine.SP
	register := x.conv.G
	if id == byCheckG {
		register = x.conv.CheckG
	}
	g := register.Fetch()
	// At a call of gogo(buf *gobuf): gobuf begins with sp, pc, g (runtime/runtime2.go), and
	// execution resumes at sp.
	buf := sp.At(x.abi0.Outgoing)
	switch kind {
	case Point, Yield:
		return nil
	case Recovery:
		return words("sp", at(0, buf), "g", at(16, buf), "hi", at(x.stackHi, at(16, buf)))
	case Switch:
		return words("g", at(16, buf))
	case Resume: // at the beginning of execute(gp *g, inheritTime bool)
		return words("g", x.arg(0), "id", at(x.goid, x.arg(0)))
	case Status: // at casgstatus(gp *g, oldval, newval uint32)
		return words("g", x.arg(0), "old", x.arg(1), "new", x.arg(2))
	case Park: // at preemptPark(gp *g)
		return words("g", x.arg(0))
	case StackMove:
		// At a return of copystack(gp *g, ...), with the argument above the return
		// address and the new bounds in place (runtime/stack.go).
		gp := sp.At(x.conv.StackArgs)
		return words("g", gp, "lo", at(x.stackLo, gp), "hi", at(x.stackHi, gp))
	case GoroutineEnd:
		return words("g", g)
	}
	args := words("sp", sp.Fetch())
	if id <= byCheckG {
		args = append(args, words("g", g, "hi", at(x.stackHi, g))...)
		if id != byG {
			args = append(args, words("lo", at(x.stackLo, g))...)
		}
		if kind.IsEntry() {
			args = append(args, words("id", at(x.goid, g))...)
		}
	}
	if kind == EntryJump || kind == CondTail {
		args = append(args, x.flags()...)
	}
	return args
}

// flags fetches what conditional jumps look at.
func (x *fetcher) flags() []tracefs.Arg { return words("fl", x.machine.Flags.Fetch()) }
