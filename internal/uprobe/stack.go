package uprobe

import (
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// MaxStack is the number of callers that an event can tell: the return address, and what 14
// nested dereferences lead to, which is as many as the kernel takes (FETCH_INSN_MAX in
// kernel/trace/trace_probe.h, and MAX_ARGSTR_LEN, which a deeper one would not keep).
const MaxStack = 15

// deepest is how many callers fit: the fetcharg of the outermost is "+8(", a "+0(" for each frame below, the frame
// pointer, brackets and a type, and has at most 63 bytes (MAX_ARGSTR_LEN).
func deepest(frames *arch.Frames) int {
	return min(MaxStack, (63-len(":x64")-len(frames.Pointer.Fetch()))/len("+0()")+1)
}

// stackArgs fetches callers: the return address of the call that begins, the caller's frame pointer,
// and then for each frame the frame pointer of the next and the return address into that. All frame
// pointers are fetched, since the kernel leaves in a field what an earlier event had there if it
// can't follow the pointers to it: what hangs on a bad one means nothing.
//
// Where calls are seen to begin, SP is what it was at the function's first instruction, and
// no frame has been made: the frame pointer is still the caller's.
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

// framesOf is how frames of a binary lie on the stack.
func framesOf(b *offsets.Binary) *arch.Frames {
	minor, _ := b.GoVersion()
	return b.File().Processor.Frames(minor)
}

// StackArgs is what an event fetches for so many callers, for who wants to know how much
// room that takes. The kernel fetches arrays since 4.20.
func StackArgs(b *offsets.Binary, depth int, arrays bool) []tracefs.Arg {
	frames := framesOf(b)
	return stackArgs(frames, min(depth, deepest(frames)), arrays)
}

// Callers makes return addresses of the words of a call's stack. It is for one goroutine.
type Callers struct {
	binary *offsets.Binary
	frames *arch.Frames
	calls  map[uint64]callSite
}

// callSite is what a return address tells.
type callSite struct {
	ok, root, sized, bare bool
	size                  uint64
}

// NewCallers returns the Callers for calls in a binary.
func NewCallers(b *offsets.Binary) *Callers {
	return &Callers{binary: b, frames: framesOf(b), calls: make(map[uint64]callSite)}
}

// Cut stands, among return addresses, for callers that are not known.
const Cut = 0

// Append appends the return addresses of a call to pcs, the innermost first, as addresses in the
// file: bias is taken off. Cut is where callers are missing: a function that keeps no frame pointer
// does not tell its own caller; at the end there are more than were fetched, or they are in another
// file or on another stack. words are those that were fetched, sp is the stack pointer where the
// call began, and hi the end of the stack, 0 if that is not known.
//
// Go's function table has how large each frame is, so that a frame pointer is believed where
// it points to the end of the frame that must have kept it; one that points further skips
// functions, and is believed as far as it stays on the stack.
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
	leastFrame = 8 // has nothing but what its function returns by
	// maxFrame is how far apart frames may be: stacks grow to 1 GB (runtime.maxstacksize).
	maxFrame = 1 << 30
)

// site tells what is known of the call that returns to pc.
func (c *Callers) site(pc uint64) callSite {
	s, known := c.calls[pc]
	if known {
		return s
	}
	if f, ok := c.binary.FuncAt(pc - 1); ok {
		s.ok, s.root = true, roots[f.Name]
		s.size, s.sized, s.bare = c.binary.Internals().LinkAt(pc - 1)
		c.calls[pc] = s // no more of them than the file has; of words that are no addresses there is no end
	}
	return s
}

// roots are functions that nobody has called: where goroutines and threads begin.
var roots = map[string]bool{
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true, "_start": true,
}
