package amd64

import (
	"errors"
	"sync/atomic"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/internal/arch"
)

// Processor is x86-64.
var Processor arch.Processor = processor{}

type processor struct{}

// errDisagree says that the two decoders measure an instruction differently.
var errDisagree = errors.New("decode instruction: two decoders disagree on its length")

// Decode decodes an instruction with two decoders, which must find it as long.
func (processor) Decode(code []byte) (arch.Inst, error) {
	in, err := decode(code)
	if err != nil {
		return arch.Inst{}, err
	}
	if !agrees(code, &in) {
		return arch.Inst{}, errDisagree
	}
	return in.Inst, nil
}

// agrees compares the length of an instruction with what x86asm finds, where that
// has an opinion: it knows neither ENDBR64 nor VEX and EVEX, which it takes for
// instructions that 64-bit mode has not.
func agrees(code []byte, in *inst) bool {
	if in.Len <= in.Prefix || !x86asmKnows(code[in.Prefix:in.Len]) {
		return true
	}
	key := agreedKey(code[:in.Len], in)
	slot := &agreed[key*0x9e3779b97f4a7c15>>(64-15)] // Fibonacci hashing
	if key != 0 && slot.Load() == key {
		return true
	}
	other, err := x86asm.Decode(code, 64)
	if err != nil || other.Op == 0 {
		return true // for reasons that may lie in the bytes behind
	}
	if other.Len == in.Len && key != 0 {
		slot.Store(key)
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
func agreedKey(code []byte, in *inst) uint64 {
	size := len(code)
	if size > 7 {
		return 0
	}
	if in.Prefix == 0 && size > 4 && (in.Kind == arch.Call || in.Kind == arch.Jump || in.Kind == arch.CondJump) {
		code = code[:size-4]
	}
	var bytes uint64
	for _, b := range code {
		bytes = bytes<<8 | uint64(b)
	}
	return uint64(size)<<56 | bytes
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

// Trim returns how many bytes of code are instructions: Go's linker fills the room
// up to the next function with INT3, with zeros up to Go 1.5. The same bytes may end
// the last instruction, a jump to somewhere near most of all; so what counts is where
// instructions begin.
func (processor) Trim(code []byte) int {
	if len(code) == 0 {
		return 0
	}
	pad := code[len(code)-1]
	if pad != 0xcc && pad != 0 {
		return len(code)
	}
	end := len(code)
	for end > 1 && code[end-1] == pad {
		end--
	}
	at := 0
	for at < end {
		in, err := decode(code[at:])
		if err != nil {
			return end // of no use as code, but not longer than it was
		}
		at += in.Len
	}
	return at
}
