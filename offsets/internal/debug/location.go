package debug

import (
	"encoding/binary"
	"slices"

	"github.com/ftgo/ftgo/offsets/arch"
)

// Location is where debug information says that a parameter is at the first
// instruction: in registers, or on the stack.
type Location struct {
	Registers []arch.Reg // in order of the value's parts; "" is a floating-point register
	Stack     bool
	Disp      int64 // from the stack pointer, SP
	SP        arch.Reg
	Lowest    int64 // the least Disp that something of the caller's can have
	Size      int64 // of what is there; 0 is the whole value
}

// Location evaluates DW_AT_location at the address at which a function begins; not
// ok if the value, or a part of it, has no location there. whole: it is of one part, or has an
// array of several elements.
func (d *Info) Location(fn *Function, addr uint64, v *Formal, whole bool) (at Location, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eachLocation(fn.unit, v, whole, func(low, high uint64, location Location) bool {
		if addr < low || addr >= high {
			return false
		}
		at, ok = location, true
		return true
	})
	return at, ok
}

// Slot finds where a parameter of ABI0 is: it has no other place above the return
// address than its own, wherever in the function debug information says so.
func (d *Info) Slot(fn *Function, v *Formal, whole bool) (disp int64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eachLocation(fn.unit, v, whole, func(_, _ uint64, location Location) bool {
		if !location.Stack || location.Disp < location.Lowest {
			return false
		}
		disp, ok = location.Disp, true
		return true
	})
	return disp, ok
}

// eachLocation goes through the locations of a value until found says so: one for the
// whole function, or a list of them.
//
// Where a list has a part of a value only, on the stack, it may call it the whole: the
// length of a slice is where the slice was to be (Go 1.16 to 1.21). So there it is
// believed of what the compiler does not take apart.
func (d *Info) eachLocation(u *unit, v *Formal, whole bool, found func(low, high uint64, at Location) bool) {
	switch location := v.location.(type) {
	case []byte:
		if at, ok := readExpression(d.image.Processor, location); ok {
			found(0, 1<<64-1, at)
		}
	case int64:
		d.eachExpression(u, location, func(low, high uint64, expression []byte) bool {
			at, ok := readExpression(d.image.Processor, expression)
			ok = ok && (!at.Stack || whole || at.Size == v.Type.Size)
			return ok && found(low, high, at)
		})
	}
}

// eachExpression goes through a list of .debug_loc (DWARF 4, 2.6.2) until found says so.
func (d *Info) eachExpression(u *unit, offset int64, found func(low, high uint64, expression []byte) bool) {
	loc, _ := d.sections.read("loc")
	if offset < 0 || offset > int64(len(loc)) {
		return
	}
	le := binary.LittleEndian
	base := u.base
	for loc = loc[offset:]; len(loc) >= 16; {
		if d.fuel--; d.fuel < 0 {
			return
		}
		low, high := le.Uint64(loc), le.Uint64(loc[8:])
		loc = loc[16:]
		switch {
		case low == 0 && high == 0:
			return
		case low == 1<<64-1:
			base = high
			continue
		case len(loc) < 2:
			return
		}
		size := int(le.Uint16(loc))
		if size > len(loc)-2 || found(base+low, base+high, loc[2:2+size]) {
			return
		}
		loc = loc[2+size:]
	}
}

// readExpression evaluates what Go's compilers write: registers, and places relative
// to the frame's address, which is CFA above the stack pointer at entry. A value in
// pieces (DW_OP_piece) is in one or the other; padding is left out, and Go 1.18 to 1.21
// repeat registers, so that sizes mean nothing.
func readExpression(p arch.Processor, expression []byte) (at Location, ok bool) {
	const (
		opConsts     = 0x11
		opPlus       = 0x22
		opPlusUconst = 0x23
		opReg0       = 0x50
		opReg31      = 0x6f
		opRegx       = 0x90
		opFbreg      = 0x91
		opPiece      = 0x93
		opFrame      = 0x9c // DW_OP_call_frame_cfa
	)
	r := reader{data: expression}
	for r.at < len(expression) && !r.bad {
		register, disp, inMemory := uint64(0), p.Machine().CFA, false
		switch op := r.u8(); {
		case op >= opReg0 && op <= opReg31:
			register = uint64(op - opReg0)
		case op == opRegx:
			register = r.uleb()
		case op == opFbreg:
			disp, inMemory = disp+r.sleb(), true
		case op == opFrame:
			inMemory = true
			switch {
			case r.at == len(expression):
			case expression[r.at] == opConsts:
				r.u8()
				disp += r.sleb()
				r.bad = r.bad || r.u8() != opPlus
			case expression[r.at] == opPlusUconst:
				r.u8()
				disp += int64(r.uleb())
			}
		default:
			return at, false // among them a piece that is nowhere
		}
		size, last := int64(0), r.at == len(expression)
		if !last {
			if r.u8() != opPiece {
				return at, false
			}
			size = int64(r.uleb())
		}
		switch {
		case !inMemory && !at.Stack:
			name, known := p.DwarfReg(register)
			if !known {
				return at, false
			}
			if name == "" || !slices.Contains(at.Registers, name) {
				at.Registers = append(at.Registers, name)
			}
		case inMemory && len(at.Registers) == 0 && (!at.Stack || disp == at.Disp+at.Size):
			if !at.Stack {
				at.Stack, at.Disp, at.SP, at.Lowest = true, disp, p.Machine().SP, p.Machine().CFA
			}
			at.Size += size
		default:
			return at, false
		}
	}
	return at, !r.bad && (at.Stack || len(at.Registers) > 0)
}
