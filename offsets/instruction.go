package offsets

import (
	"errors"
	"fmt"
)

// ErrNoInstruction: no instruction begins at an offset.
var ErrNoInstruction = errors.New("not where an instruction begins")

// SiteAt returns one instruction of a function by its offset from the function's
// first byte. The error says why there must be no probe: the function can't be decoded
// as a whole, there is no instruction (ErrNoInstruction, with the offsets of its
// neighbours), or the kernel takes none there.
func (b *Binary) SiteAt(f *Func, offset uint64) (Site, error) {
	code, err := b.Code(f)
	if err != nil {
		return Site{}, err
	}
	body, err := b.bodyOf(f, code)
	if err != nil {
		return Site{}, err
	}
	if offset >= uint64(len(body.boundary)) {
		last := len(body.boundary) - 1
		for last > 0 && !body.boundary[last] {
			last--
		}
		return Site{}, fmt.Errorf("%w: beyond the function's %d bytes; last instruction: +%#x", ErrNoInstruction, f.Size, last)
	}
	at := int(offset)
	if !body.boundary[at] {
		before, after := at, at
		for before > 0 && !body.boundary[before] {
			before--
		}
		for after < len(body.boundary) && !body.boundary[after] {
			after++
		}
		nearest := fmt.Sprintf("+%#x", before)
		if after < len(body.boundary) {
			nearest += fmt.Sprintf(", +%#x", after)
		}
		return Site{}, fmt.Errorf("%w; nearest: %s", ErrNoInstruction, nearest)
	}
	return b.site(f, code, at)
}
