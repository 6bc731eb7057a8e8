package flow

import (
	"errors"
	"fmt"
)

// ErrNoInstruction: no instruction begins at an offset.
var ErrNoInstruction = errors.New("not where an instruction begins")

// Instruction returns one by its offset from the first byte of the function. The error
// says why there must be no probe: there is no instruction (ErrNoInstruction, with the offsets of
// its neighbours), or the kernel takes none there.
func (f *Function) Instruction(offset uint64) (in Instruction, err error) {
	if offset >= uint64(len(f.boundary)) {
		last := len(f.boundary) - 1
		for last > 0 && !f.boundary[last] {
			last--
		}
		return in, fmt.Errorf("%w: beyond the function's %d bytes; last instruction: +%#x", ErrNoInstruction, f.symbol.Size, last)
	}
	at := int(offset)
	if !f.boundary[at] {
		before, after := at, at
		for before > 0 && !f.boundary[before] {
			before--
		}
		for after < len(f.boundary) && !f.boundary[after] {
			after++
		}
		nearest := fmt.Sprintf("+%#x", before)
		if after < len(f.boundary) {
			nearest += fmt.Sprintf(", +%#x", after)
		}
		return in, fmt.Errorf("%w; nearest: %s", ErrNoInstruction, nearest)
	}
	return f.At(at)
}
