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
	known        map[uint64]stats.Location // by return address, unless the callee is panicking
}

// panicking functions are shown with the wrappers that called them (elideWrapperCalling in runtime/traceback.go).
var panicking = map[string]bool{"runtime.gopanic": true, "runtime.panicwrap": true, trapped: true}

// trapped is a function that was not called, but entered by a signal handler. Its return address is the address of the
// instruction that failed. The return address of a call is the address after the call instruction.
const trapped = "runtime.sigpanic"

// NewStacks returns the stacks of calls in a binary.
func NewStacks(b *offsets.Binary) *Stacks {
	return &Stacks{binary: b, callers: uprobe.NewCallers(b), known: make(map[uint64]stats.Location)}
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

// Locations returns the functions at return addresses, the innermost first, as runtime.CallersFrames would show them in the
// program. callee is the name of the function that returns to pcs[0].
func (s *Stacks) Locations(pcs []uint64, callee string) []stats.Location {
	out := make([]stats.Location, 0, len(pcs))
	for _, pc := range pcs {
		l := s.location(pc, callee)
		if callee = ""; len(l.Frames) > 0 {
			callee = l.Frames[len(l.Frames)-1].Function
		}
		if len(l.Frames) > 0 || pc == uprobe.Cut {
			out = append(out, l)
		}
	}
	return out
}

// location returns the functions at the return address of a callee.
func (s *Stacks) location(pc uint64, callee string) stats.Location {
	wrappers := panicking[callee]
	if l, known := s.known[pc]; pc == uprobe.Cut || known && !wrappers {
		return l
	}
	l := stats.Location{Addr: pc - 1} // the call instruction is before the return address
	if callee == trapped {
		l.Addr = pc
	}
	for _, f := range s.binary.Internals().Frames(l.Addr) {
		if !f.Wrapper || wrappers {
			l.Frames = append(l.Frames, f)
		}
		wrappers = panicking[f.Function]
	}
	if !panicking[callee] {
		s.known[pc] = l
	}
	return l
}

// Callers returns the callers of c, a call of the function callee.
func (s *Stacks) Callers(c *pairing.Call, callee string) []stats.Location {
	return s.Locations(s.of(c), callee)
}
