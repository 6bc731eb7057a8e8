package uprobe

import (
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// MaxStack is the most callers that an event can fetch: the return address, and one for each of 14
// nested dereferences, which is as many as the kernel accepts (FETCH_INSN_MAX in
// kernel/trace/trace_probe.h, and MAX_ARGSTR_LEN, which a deeper one would exceed).
const MaxStack = 15

// deepest returns how many callers fit: the fetcharg of the outermost is "+8(", a "+0(" for each frame below, the frame
// pointer, brackets and a type, and has at most 63 bytes (MAX_ARGSTR_LEN).
func deepest(frames *arch.Frames) int {
	return min(MaxStack, (63-len(":x64")-len(frames.Pointer.Fetch()))/len("+0()")+1)
}

// stackArgs fetches callers: the return address of the call that begins, the caller's frame pointer,
// and then for each frame the frame pointer of the next one and the return address into it. All frame
// pointers are fetched, because the kernel leaves the bytes of an earlier event in a field if it
// can't follow the pointers to it: what depends on a bad pointer means nothing.
//
// Where calls are seen to begin, SP is as at the function's first instruction, and
// the function has no frame yet: the frame pointer is still the caller's.
func stackArgs(frames *arch.Frames, depth int, arrays bool) []tracefs.Arg {
	args := words("c", frames.Return, "b", frames.Pointer.Fetch())[:min(depth, 2)]
	// A fetcharg has at most 63 bytes with its type.
	const arrayNesting = 13
	for i := 1; i < depth; i++ {
		bp := strings.Repeat("+0(", i-1) + frames.Pointer.Fetch() + strings.Repeat(")", i-1)
		letter := string(rune('a' + i - 1))
		if arrays && i <= arrayNesting {
			args = append(args, tracefs.Arg{Name: "s" + letter, Fetch: at(0, bp), Type: "x64[2]"})
		} else {
			args = append(args, words("b"+letter, at(0, bp), "c"+letter, at(8, bp))...)
		}
	}
	return args
}

// framesOf returns the layout of frames on the stack in a binary.
func framesOf(b *offsets.Binary) *arch.Frames {
	minor, _ := b.GoVersion()
	return b.File().Processor.Frames(minor)
}

// StackArgs returns what an event fetches for a number of callers, to know how much
// room that takes. The kernel fetches arrays since 4.20.
func StackArgs(b *offsets.Binary, depth int, arrays bool) []tracefs.Arg {
	frames := framesOf(b)
	return stackArgs(frames, min(depth, deepest(frames)), arrays)
}

// Callers turns the words of a call's stack into return addresses. It is for one goroutine.
type Callers struct {
	binary *offsets.Binary
	frames *arch.Frames
	calls  map[uint64]callSite
}

// callSite is what is known of the call that returns to an address.
type callSite struct {
	ok, root, sized, bare bool
	size                  uint64
}

// NewCallers returns the Callers for calls in a binary.
func NewCallers(b *offsets.Binary) *Callers {
	return &Callers{binary: b, frames: framesOf(b), calls: make(map[uint64]callSite)}
}

// Cut stands for unknown callers among return addresses.
const Cut = 0

// Append appends the return addresses of a call to pcs, the innermost first, as addresses in the
// file: bias is subtracted. Cut stands where callers are missing: the caller of a function that keeps no frame
// pointer is unknown; at the end, more callers exist than were fetched, or they are in another
// file or on another stack. words are the fetched words, sp is the stack pointer where the
// call began, and hi the end of the stack, 0 if that is not known.
//
// Go's function table has the size of each frame. A frame pointer is correct if
// it points to the end of the frame that must have saved it. One that points further skips
// functions, and is accepted while it stays on the stack.
func (c *Callers) Append(pcs, words []uint64, sp, hi, bias uint64) []uint64 {
	if len(words) == 0 {
		return append(pcs, Cut)
	}
	// at is SP when the call at pc has returned. The words are c b, b c, b c, …
	pc, at := words[0], sp+c.frames.Pushed
	for i := 0; ; i += 2 {
		site := c.site(pc - bias)
		if !site.ok {
			return append(pcs, Cut)
		}
		pcs = append(pcs, pc-bias)
		if site.root {
			return pcs
		}
		if i+3 >= len(words) || site.bare {
			return append(pcs, Cut)
		}
		bp := words[max(i, 1)]
		if low := c.frames.Expect(at, leastFrame); bp < low || bp%8 != 0 || bp-low > maxFrame || hi != 0 && bp+16 > hi {
			return append(pcs, Cut)
		}
		if site.sized && bp != c.frames.Expect(at, site.size) {
			if bp < c.frames.Expect(at+site.size, leastFrame) {
				return append(pcs, Cut)
			}
			pcs = append(pcs, Cut)
		}
		pc, at = words[i+3], c.frames.Next(bp, words[i+2])
	}
}

const (
	leastFrame = 8 // a frame with the return address alone
	// maxFrame is the largest distance of two frames: stacks grow to 1 GB (runtime.maxstacksize).
	maxFrame = 1 << 30
)

// site returns what is known of the call that returns to pc.
func (c *Callers) site(pc uint64) callSite {
	s, known := c.calls[pc]
	if known {
		return s
	}
	if f, ok := c.binary.FuncAt(pc - 1); ok {
		s.ok, s.root = true, roots[f.Name]
		s.size, s.sized, s.bare = c.binary.Internals().LinkAt(pc - 1)
		c.calls[pc] = s // the file limits their number; other words are not remembered, as their number has no limit
	}
	return s
}

// roots are functions without a caller, with which goroutines and threads begin.
var roots = map[string]bool{
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true, "_start": true,
}
