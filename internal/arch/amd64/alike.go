package amd64

import (
	"bytes"
	"encoding/binary"
)

// Alike compares instruction by instruction.
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

// alike compares two instructions that end at an address. By a distance data is referred to with ModRM
// 00xxx101, from the instruction's end (SDM vol. 2, 2.2.1.6). Addresses themselves are displacements of 32 bits, or
// immediates: ld makes those of loads from the global offset table ("mov foo@GOTPCREL(%rip), %reg" becomes "mov $foo,
// %reg", System V ABI for AMD64, B.2).
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

// fields are the offsets of an instruction's displacement, which may be relative to its end, and of its immediate, if
// they have 32 bits and the latter is no branch's; else 0.
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
		// A displacement of 8 bits, or none, leaves no room for one of 32.
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
