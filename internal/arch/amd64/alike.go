package amd64

import (
	"bytes"
	"encoding/binary"
)

// Alike compares one instruction after the other.
func (processor) Alike(x, y []byte, addr uint64, same func(x, y uint64, absolute bool) bool) (at int, ok bool) {
	for at < len(x) && at < len(y) {
		in, err := decode(x[at:])
		if err != nil {
			return at, bytes.Equal(x[at:], y[at:])
		}
		end := at + in.Len
		if end > len(y) || !alike(x[at:end], y[at:end], in.Prefix, addr+uint64(end), same) {
			return at, false
		}
		at = end
	}
	return at, len(x) == len(y)
}

// alike compares two instructions that end at an address. An instruction refers to data by its distance from the
// instruction's end, with ModRM 00xxx101 (SDM vol. 2, 2.2.1.6), or by its address, in a displacement or an immediate
// of 32 bits. The linker ld turns loads from the global offset table into immediates ("mov foo@GOTPCREL(%rip), %reg"
// becomes "mov $foo, %reg", System V ABI for AMD64, B.2).
func alike(x, y []byte, prefix int, end uint64, same func(x, y uint64, absolute bool) bool) bool {
	displacement, immediate, relative := fields(x, prefix)
	others := func(field int) bool {
		return field > 0 && bytes.Equal(x[:field], y[:field]) && bytes.Equal(x[field+4:], y[field+4:])
	}
	if relative {
		place := func(code []byte) uint64 { return end + uint64(signed(code[displacement:displacement+4])) }
		return others(displacement) && same(place(x), place(y), false)
	}
	for _, field := range []int{displacement, immediate} {
		if !others(field) {
			continue
		}
		of, other := uint64(binary.LittleEndian.Uint32(x[field:])), uint64(binary.LittleEndian.Uint32(y[field:]))
		if of != other {
			return same(of, other, true)
		}
	}
	return bytes.Equal(x, y)
}

// fields returns the offsets of an instruction's displacement and immediate. An offset is 0 if the field does not have 32
// bits. relative means that the displacement is relative to the instruction's end. For a branch, immediate is 0.
func fields(code []byte, prefix int) (displacement, immediate int, relative bool) {
	var set, rex uint8
	for _, b := range code[:prefix] {
		if set |= legacyPrefix[b]; legacyPrefix[b] == 0 {
			rex = b
		}
	}
	f, p := opcode(code, prefix, set, rex)
	if f&hasModRM != 0 && f&modIgnored == 0 && set&pAddr == 0 && p < len(code) {
		n := modrmLen(code[p:])
		// With 5 bytes or more, ModRM includes a displacement of 32 bits.
		if mod := code[p] >> 6; n >= 5 && (mod == 2 || mod == 0) {
			displacement, relative = p+n-4, code[p]&0xc7 == 5
		}
		p += n
	}
	if f&isDirect == 0 && len(code)-p == 4 {
		immediate = p
	}
	return displacement, immediate, relative
}
