package amd64

import (
	"sync/atomic"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/arch"
)

// agrees compares the length of an instruction with what x86asm finds, where that
// has an opinion: it knows neither ENDBR64 nor VEX and EVEX, which it takes for
// instructions that 64-bit mode has not.
func agrees(code []byte, in *inst) bool {
	if in.Len <= in.Prefix || !x86asmKnows(code[in.Prefix:in.Len]) {
		return true
	}
	key := agreedKey(code[:in.Len], in)
	if key != 0 && agreed[agreedSlot(key)].Load() == key {
		return true
	}
	other, err := x86asm.Decode(code, 64)
	if err != nil || other.Op == 0 {
		return true // for reasons that may lie in the bytes behind
	}
	if other.Len == in.Len && key != 0 {
		agreed[agreedSlot(key)].Store(key)
	}
	return other.Len == in.Len
}

// agreed are instructions that x86asm has found as long as we did: it takes five times
// as long to decode them as all the rest, and most of a program's instructions are few.
// It reads bytes one after the other, so what is behind an instruction can't change
// its mind.
var agreed [1 << 15]atomic.Uint64

// agreedKey is an instruction of up to seven bytes, and how many they are; 0 is none. How
// far a branch leads has no part in its length.
func agreedKey(code []byte, in *inst) (key uint64) {
	switch size := len(code); {
	case size > 7:
		return 0
	case in.Prefix == 0 && size > 4 && (in.Kind == arch.Call || in.Kind == arch.Jump || in.Kind == arch.CondJump):
		code = code[:size-4]
		key = uint64(size) << 56
	default:
		key = uint64(size) << 56
	}
	var bytes uint64
	for _, b := range code {
		bytes = bytes<<8 | uint64(b)
	}
	return key | bytes
}

func agreedSlot(key uint64) uint64 {
	return key * 0x9e3779b97f4a7c15 >> (64 - 15) // Fibonacci hashing
}

// x86asmKnows is false for the opcodes that stand for VEX (C4, C5), EVEX (62) and XOP
// (8F) in 64-bit mode, and for moves from and to control and debug registers
// (0F 20 to 0F 23), whose ModRM byte x86asm may take for one that addresses memory.
func x86asmKnows(opcode []byte) bool {
	switch opcode[0] {
	case 0xc4, 0xc5, 0x62, 0x8f:
		return false
	case 0x0f:
		return len(opcode) < 2 || opcode[1]&^3 != 0x20
	}
	return true
}
