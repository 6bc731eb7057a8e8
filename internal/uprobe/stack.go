package uprobe

import (
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/offsets"
)

// MaxStack is the maximum number of callers that an event can fetch: the return address, and one for each of 14 nested
// dereferences. The kernel accepts no more (FETCH_INSN_MAX in kernel/trace/trace_probe.h, and MAX_ARGSTR_LEN, which a
// deeper fetcharg would exceed).
const MaxStack = 15

// deepest returns the maximum number of callers. The fetcharg of the outermost one is "+8(", a "+0(" for each inner
// frame, the frame pointer, brackets and a type, and has at most 63 bytes (MAX_ARGSTR_LEN).
func deepest(frames *arch.Frames) int {
	return min(MaxStack, (63-len(":x64")-len(frames.Pointer.Fetch()))/len("+0()")+1)
}

// stackArgs returns the arguments for callers: the return address of the call that begins, the caller's frame pointer,
// and then, for each frame, the frame pointer and the return address of the next frame. If the kernel can't follow the
// pointers to a field, it leaves bytes of an earlier event in the field. So all frame pointers are fetched, to
// recognize an invalid pointer and to ignore the values behind it.
//
// At sites where calls begin, SP is the same as at the function's first instruction, and the function has no frame yet:
// the frame pointer is still the caller's.
func stackArgs(frames *arch.Frames, depth int, arrays bool) []tracefs.Arg {
	args := words("c", frames.Return, "b", frames.Pointer.Fetch())[:min(depth, 2)]
	// A fetcharg has at most 63 bytes with its type, and "x64[2]" is longer than "s64".
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

// framesOf returns the layout of stack frames in a binary.
func framesOf(b *offsets.Binary) *arch.Frames {
	minor, _ := b.GoVersion()
	return b.File().Processor.Machine().Frames(minor)
}

// StackArgs returns the arguments that fetch a number of callers. arrays says that the kernel can fetch arrays (4.20).
func StackArgs(b *offsets.Binary, depth int, arrays bool) []tracefs.Arg {
	frames := framesOf(b)
	return stackArgs(frames, min(depth, deepest(frames)), arrays)
}

// Callers decodes the words that an entry fetches for callers. Only one goroutine may use it at a time.
type Callers struct {
	binary *offsets.Binary
	frames *arch.Frames
	calls  map[uint64]CallSite
}

// CallSite describes a call instruction, or another one: the function that contains it, nil if none does, whether that
// function has no caller, and the results of LinkAt.
type CallSite struct {
	*offsets.Func
	Root, Sized, Bare bool
	Size              uint64
}

// NewCallers returns Callers for a binary.
func NewCallers(b *offsets.Binary) *Callers {
	return &Callers{binary: b, frames: framesOf(b), calls: make(map[uint64]CallSite)}
}

// Cut takes the place of unknown callers among return addresses.
const Cut = 0

// Append appends the return addresses of a call to pcs, from the innermost to the outermost caller. They are addresses
// in the file: bias is subtracted. words are the fetched words, sp is the stack pointer where the call began, and hi is
// the end of the stack, or 0 if it is unknown.
//
// A Cut stands for missing callers: the caller of a function without a frame pointer is unknown. A Cut at the end
// stands for callers that were not fetched, or that are in another file or on another stack.
//
// Go's function table has the size of each frame. A frame pointer is correct if it points to the end of the frame that
// must have saved it. A frame pointer that points further out skips functions. It is accepted if it is still on the
// stack.
func (c *Callers) Append(pcs, words []uint64, sp, hi, bias uint64) []uint64 {
	if len(words) == 0 {
		return append(pcs, Cut)
	}
	// at is SP after the call at pc has returned. The words are c b, b c, b c, …
	pc, at := words[0], sp+c.frames.Pushed
	for i := 0; ; i += 2 {
		site := c.Site(pc - bias)
		if site.Func == nil {
			return append(pcs, Cut)
		}
		pcs = append(pcs, pc-bias)
		if site.Root {
			return pcs
		}
		if i+3 >= len(words) || site.Bare {
			return append(pcs, Cut)
		}
		bp := words[max(i, 1)]
		if low := c.frames.Expect(at, leastFrame); bp < low || bp%8 != 0 || bp-low > maxFrame || hi != 0 && bp+16 > hi {
			return append(pcs, Cut)
		}
		if site.Sized && bp != c.frames.Expect(at, site.Size) {
			if bp < c.frames.Expect(at+site.Size, leastFrame) {
				return append(pcs, Cut)
			}
			pcs = append(pcs, Cut)
		}
		pc, at = words[i+3], c.frames.Next(bp, words[i+2])
	}
}

const (
	leastFrame = 8 // a frame that has only a return address
	// maxFrame is the largest distance of two frames: stacks grow to 1 GB (runtime.maxstacksize).
	maxFrame = 1 << 30
)

// Site returns the CallSite before a return address in the file.
func (c *Callers) Site(pc uint64) CallSite {
	s, known := c.calls[pc]
	if known {
		return s
	}
	if f, ok := c.binary.FuncAt(pc - 1); ok {
		s.Func, s.Root = f, roots[f.Name]
		s.Size, s.Sized, s.Bare = c.binary.Internals().LinkAt(pc - 1)
		c.calls[pc] = s // the size of the file limits the map; words outside of functions are not added
	}
	return s
}

// roots are functions without a caller: the first functions of goroutines and threads.
var roots = map[string]bool{
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true, "_start": true,
}
