package offsets

import (
	"cmp"
	"slices"
)

// Frame is a logical stack frame: a function, or a call of a function that the compiler inlined.
type Frame struct {
	Function string
	// File and Line are the source position of the instruction or, if another function is inlined there, of the call
	// of that function; "" and 0 if unknown.
	File string
	Line int
	// Wrapper is true if the compiler generated the function to call another function with the same arguments. Go's stack
	// traces omit such functions (elideWrapperCalling in runtime/traceback.go).
	Wrapper bool
}

// Frames returns the logical frames of the instruction at an address, the innermost inlined function first. For Go it
// reads the function table, which stripped files also have; the table has inlined functions since Go 1.12. For C it
// returns the function only. It returns nil if no function contains the address.
func (b internals) Frames(addr uint64) []Frame {
	f, ok := b.FuncAt(addr)
	if !ok {
		return nil
	}
	var frames []Frame
	b.tables.Frames(addr, func(function, file string, line int, wrapper bool) {
		frames = append(frames, Frame{function, file, line, wrapper})
	})
	if len(frames) == 0 {
		return []Frame{{Function: f.Name}}
	}
	// .symtab has the type arguments that Go 1.18 to 1.20 omit from the table, and the ABI suffix.
	frames[len(frames)-1].Function = f.Name
	return frames
}

// LinkAt describes how to find the caller's frame from the call instruction at addr. If sized is true, size is the
// distance in bytes from SP to the return address; a function that saves the caller's frame pointer saves it just
// below the return address. Otherwise the frame pointer leads to the caller's frame, unless bare is true: the
// function does not maintain a frame pointer. The sizes are from Go's function table. For C, .eh_frame says whether
// the frame is based on the frame pointer.
func (b internals) LinkAt(addr uint64) (size uint64, sized, bare bool) {
	n, known, ok := b.tables.Depth(addr)
	if ok || known {
		return n, ok, false
	}
	rule, ok := b.unwind().FrameAt(addr)
	return 0, false, ok && (rule.Register != b.image.Processor.Machine().DwarfFP || rule.Computed)
}

// Inlined returns, by the name of the inlined function, one Frame for each inlined copy: the function that contains the
// copy, directly or through other inlined functions, and the source position of the call. The copies are sorted. A probe on
// the inlined function does not see these calls, even if the function also exists on its own. The data is from Go's function
// table (Go 1.12 and later), which does not have a copy without any instruction left after optimization.
func (b *Binary) Inlined() (map[string][]Frame, error) { return b.inlined() }

func (b *Binary) readInlined() (map[string][]Frame, error) {
	if !b.tables.Any() {
		return nil, ErrNoDebugInfo
	}
	at := make(map[string][]Frame)
	b.tables.Calls(func(callee, caller, file string, line int) {
		at[callee] = append(at[callee], Frame{Function: caller, File: file, Line: line})
	})
	for _, frames := range at {
		slices.SortFunc(frames, func(s, o Frame) int {
			return cmp.Or(cmp.Compare(s.Function, o.Function), cmp.Compare(s.File, o.File), cmp.Compare(s.Line, o.Line))
		})
	}
	return at, nil
}
