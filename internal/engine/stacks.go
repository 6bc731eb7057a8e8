package engine

import (
	"encoding/binary"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Stacks finds the callers of calls.
type Stacks struct {
	stats.Stacks // sums over all calls that have ended
	binary       *offsets.Binary
	callers      *uprobe.Callers
	pcs          []uint64
	known        map[stackPlace]stats.Location
}

// stackPlace is a return address, and the kind of the function that returns there.
type stackPlace struct {
	pc     uint64
	callee calleeKind
}

// calleeKind is the kind of a function in a stack, which decides how its caller is shown.
type calleeKind uint8

const (
	ordinary calleeKind = iota
	// panicking functions are shown with the wrappers that called them (elideWrapperCalling in
	// runtime/traceback.go).
	panicking
	// trapped functions were not called, but entered by a signal handler. Their return address is the address of the
	// instruction that failed. The return address of a call is the address after the call instruction.
	trapped
)

var calleeKinds = map[string]calleeKind{"runtime.gopanic": panicking, "runtime.panicwrap": panicking, "runtime.sigpanic": trapped}

// NewStacks returns the stacks of calls in a binary.
func NewStacks(b *offsets.Binary) *Stacks {
	return &Stacks{binary: b, callers: uprobe.NewCallers(b), known: make(map[stackPlace]stats.Location)}
}

// of returns the return addresses of c. The slice is s.pcs, and the next use of s overwrites it.
func (s *Stacks) of(c *pairing.Call) []uint64 {
	s.pcs = s.callers.Append(s.pcs[:0], c.Stack, c.SP, c.StackHi, c.Bias)
	return s.pcs
}

// AppendKey appends a key that is the same for calls of a function with the same callers.
func (s *Stacks) AppendKey(key []byte, c *pairing.Call) []byte {
	key = binary.LittleEndian.AppendUint64(key, uint64(c.Func))
	for _, pc := range s.of(c) {
		key = binary.LittleEndian.AppendUint64(key, pc)
	}
	return key
}

// AddCall adds a call that has ended to the sums, if its stack was recorded.
func (s *Stacks) AddCall(c *pairing.Call, timing stats.Timing, runnable, amount int64) {
	if len(c.Stack) > 0 {
		s.Add(c, s.of(c), timing, runnable, amount)
	}
}

// Locations returns the functions at return addresses, the innermost first, as runtime.CallersFrames would show them in the
// program. callee is the name of the function that returns to pcs[0].
func (s *Stacks) Locations(pcs []uint64, callee string) []stats.Location {
	out := make([]stats.Location, 0, len(pcs))
	kind := calleeKinds[callee]
	for _, pc := range pcs {
		l := s.location(stackPlace{pc, kind})
		if kind = ordinary; len(l.Frames) > 0 {
			kind = calleeKinds[l.Frames[len(l.Frames)-1].Function]
		}
		if len(l.Frames) > 0 || pc == uprobe.Cut {
			out = append(out, l)
		}
	}
	return out
}

func (s *Stacks) location(at stackPlace) stats.Location {
	l, known := s.known[at]
	if known || at.pc == uprobe.Cut {
		return l
	}
	// The call instruction is before the return address.
	if l.Addr = at.pc - 1; at.callee == trapped {
		l.Addr = at.pc
	}
	callee := at.callee
	for _, f := range s.binary.Internals().Frames(l.Addr) {
		if !f.Wrapper || callee != ordinary {
			l.Frames = append(l.Frames, f)
		}
		callee = calleeKinds[f.Function]
	}
	s.known[at] = l
	return l
}

// Callers returns the callers of c, a call of the function callee.
func (s *Stacks) Callers(c *pairing.Call, callee string) []stats.Location {
	return s.Locations(s.of(c), callee)
}
