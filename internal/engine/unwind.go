package engine

import (
	"encoding/binary"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// traps are functions that a signal handler enters, so that their return address is the address of the next instruction.
var traps = map[string]bool{trapped: true, "runtime.asyncPreempt": true, "runtime.debugCallV2": true}

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
	f, known := g.Binary.FuncAt(pc - g.Bias)
	exact := known && f.Addr == pc-g.Bias // pc is the address of the next instruction; otherwise it is a return address
	ok := w[stackLo] <= sp && sp <= hi
	inner := "" // the name of the function before
	for ok && len(pcs) < maxDepth {
		at := pc - g.Bias
		if exact {
			at++
		}
		s := g.stacks.callers.Site(at)
		if s.Root {
			return pcs, sp == w[topSP]
		} else if !s.Sized {
			break
		}
		if inner == trapped { // Stacks knows that its return address is exact
			at--
		}
		pcs = append(pcs, at)
		switch {
		case !g.lr:
			pc, ok = g.stackWord(sp+s.Size, hi)
			sp += s.Size + 8
		case s.Size == 0:
			pc = lr
		default:
			pc, ok = g.stackWord(sp, hi)
			sp += s.Size
		}
		exact, inner, lr = traps[s.Name], s.Name, 0
		if exact && g.lr && ok {
			lr, ok = g.stackWord(sp, hi)
			sp += trapFrame
		}
	}
	return append(pcs, uprobe.Cut), false
}
