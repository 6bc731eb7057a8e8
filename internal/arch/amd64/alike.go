package amd64

import (
	"bytes"
	"encoding/binary"

	"github.com/ftgo/ftgo/internal/arch"
)

// Alike compares one instruction after the other.
func (processor) Alike(x, y []byte, addr uint64, same func(x, y uint64, absolute bool) bool) (at int, ok bool) {
	for at < len(x) && at < len(y) {
		in, err := decode(x[at:])
		if err != nil {
			return at, bytes.Equal(x[at:], y[at:])
		}
		end := at + in.Len
		if end > len(y) || !alike(x[at:end], y[at:end], &in, addr+uint64(end), same) {
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
func alike(x, y []byte, in *inst, end uint64, same func(x, y uint64, absolute bool) bool) bool {
	displacement, immediate, relative := 0, 0, false
	// With 5 bytes or more, ModRM includes a displacement of 32 bits.
	if in.Imm-in.ModRM >= 5 && bytes.IndexByte(x[:in.Prefix], 0x67) < 0 {
		displacement, relative = in.Imm-4, x[in.ModRM]&0xc7 == 5
	}
	if branch := in.Kind == arch.Jump || in.Kind == arch.CondJump || in.Kind == arch.Call; !branch && in.Len-in.Imm == 4 {
		immediate = in.Imm
	}
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
