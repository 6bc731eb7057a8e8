package flow

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// direct tells whether a direct jump stays inside. A part of the function that is not known
// yet is added.
func (w *flow) direct(from, to uint64) (inside bool, err error) {
	if w.partAt(to) != nil {
		w.cross = append(w.cross, crossing{from, to})
		return true, nil
	}
	if target, ok := w.Symbols.At(to); ok {
		_, cold := w.partOf(target)
		switch {
		case cold:
			return w.extend(from, to, target.Addr, target.Size)
		case to != target.Addr:
			return false, fmt.Errorf("leads into the middle of %s", target.Name)
		case !w.mayHaveLeft(from):
			return false, fmt.Errorf("leads to %s with the stack in use", target.Name)
		}
		return false, nil
	}
	// No symbol: a function that is not exported, or a part of this one, in a
	// stripped file.
	if w.Image.InPLT(to) {
		return false, nil
	}
	e, ok := w.unwind.At(to)
	if !ok {
		return false, errors.New("leads to code of which nothing is known")
	}
	if to == e.Addr && w.mayHaveLeft(from) {
		if rule, ok := w.unwind.FrameAt(to); ok && rule.Entered(w.Image.Processor.Machine()) && !w.comesBack(e) {
			return false, nil
		}
	}
	if f, ok := w.Symbols.First(e.Addr, e.Addr+e.Size); ok {
		return false, fmt.Errorf("leads into the middle of code around %s", f.Name)
	}
	return w.extend(from, to, e.Addr, e.Size)
}

// extend adds a part that a jump leads to.
func (w *flow) extend(from, to, addr, size uint64) (inside bool, err error) {
	w.cross = append(w.cross, crossing{from, to})
	if err := w.add(addr, size); err != nil {
		return false, fmt.Errorf("leads to a part of the function at %+#x: %w", w.offset(addr), err)
	}
	return true, nil
}

// mayHaveLeft reports whether SP may be where it was at the start: only then can a
// jump be a tail call.
func (w *flow) mayHaveLeft(at uint64) bool {
	rule, ok := w.unwind.FrameAt(at)
	return !ok || rule.Entered(w.Image.Processor.Machine())
}

// comesBack reports whether code jumps into the function, other than to its start.
func (w *flow) comesBack(e *debug.UnwindEntry) bool {
	code, err := w.Image.Code(w.fn.symbol.Name, e.Addr, e.Size)
	if err != nil {
		return false
	}
	s, err := decode(w.Image.Processor, code)
	if err != nil {
		return false
	}
	for _, j := range s.jumps {
		if to := e.Addr + uint64(j.to); !j.in.Kind.Indirect() && to != w.fn.symbol.Addr && w.partAt(to) != nil {
			return true
		}
	}
	return false
}
