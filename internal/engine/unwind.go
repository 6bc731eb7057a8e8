package engine

import (
	"encoding/binary"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// stackSite describes an instruction of a function on a stack.
type stackSite struct {
	ok    bool   // the size of the frame is known
	begin bool   // it is the function's first instruction
	size  uint64 // the distance from SP to the return address
	root  bool   // the function is the first one of a goroutine
	// trap: a signal handler entered the function, so its return address is the address of the next instruction.
	trap     bool
	sigpanic bool // the function is runtime.sigpanic, a trap that Stacks knows
}

// site returns the stackSite of an instruction in the file.
func (g *Goroutines) site(pc uint64) stackSite {
	s, known := g.sites[pc]
	if known {
		return s
	}
	f, ok := g.Binary.FuncAt(pc)
	if !ok {
		return s // not remembered: the number of such words has no limit
	}
	s.size, s.ok, _ = g.Binary.Internals().LinkAt(pc)
	s.begin = pc == f.Addr
	s.root = f.Name == "runtime.goexit"
	s.sigpanic = f.Name == trapped
	s.trap = s.sigpanic || f.Name == "runtime.asyncPreempt" || f.Name == "runtime.debugCallV2"
	g.sites[pc] = s
	return s
}

const (
	// maxDepth is the number of innermost frames that are read. A stack dump shows 100.
	maxDepth = 10_000
	// windowSize is the number of bytes of a stack that are read at once.
	windowSize = 8 << 10
	// trapFrame is the number of bytes that a signal handler pushes if the processor has a link register (pushCall in
	// runtime/signal_arm64.go).
	trapFrame = 16
)

// window is a part of a stack.
type window struct {
	buf         [windowSize]byte
	start, size uint64
	left        uint64 // the number of bytes to read at most
}

// stackWord reads a word of the stack of a goroutine.
func (g *Goroutines) stackWord(addr, hi uint64) (word uint64, ok bool) {
	w := &g.window
	if addr+8 > hi || addr+8 < addr {
		return 0, false
	}
	if addr < w.start || addr+8 > w.start+w.size {
		w.start, w.size = addr, min(hi-addr, windowSize)
		if w.left < w.size || !g.Read(addr, w.buf[:w.size]) {
			w.size = 0
			return 0, false
		}
		w.left -= w.size
	}
	return binary.LittleEndian.Uint64(w.buf[addr-w.start:]), true
}

// unwind returns the return addresses of a stack, without the bias. If it does not find the start of the goroutine, whole is
// false, and the last address is a Cut. It follows the sizes of frames, like unwinder in runtime/traceback.go. w are the
// fields of the goroutine.
func (g *Goroutines) unwind(w *[len(fieldNames)]uint64) (pcs []uint64, whole bool) {
	g.window.size = 0 // it has another stack, or the same at another moment
	pc, sp, lr, hi := w[schedPC], w[schedSP], w[schedLR], w[stackHi]
	// exact: pc is the address of the next instruction. Otherwise it is a return address.
	exact, ok := g.site(pc-g.Bias).begin, w[stackLo] <= sp && sp <= hi
	var inner stackSite
	for ok && len(pcs) < maxDepth {
		at := pc - g.Bias
		if !exact {
			at--
		}
		s := g.site(at)
		if s.root {
			return pcs, sp == w[topSP]
		} else if !s.ok {
			break
		}
		if !inner.sigpanic { // Stacks knows that its return address is exact
			at++
		}
		pcs = append(pcs, at)
		switch {
		case !g.lr:
			pc, ok = g.stackWord(sp+s.size, hi)
			sp += s.size + 8
		case s.size == 0:
			pc = lr
		default:
			pc, ok = g.stackWord(sp, hi)
			sp += s.size
		}
		exact, inner, lr = s.trap, s, 0
		if s.trap && g.lr && ok {
			lr, ok = g.stackWord(sp, hi)
			sp += trapFrame
		}
	}
	return append(pcs, uprobe.Cut), false
}
