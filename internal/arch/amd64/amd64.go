package amd64

import (
	"errors"
	"sync/atomic"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/internal/arch"
)

// Processor implements [arch.Processor] for x86-64.
var Processor arch.Processor = processor{}

type processor struct{}

func init() { arch.Processors = append(arch.Processors, Processor) }

// errDisagree means that the two decoders find different lengths of an instruction.
var errDisagree = errors.New("decode instruction: two decoders disagree on its length")

// Decode decodes an instruction with two decoders. It returns an error if they find different lengths.
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

// agrees reports whether x86asm finds the same length of an instruction. It returns true for instructions that x86asm
// can't decode: ENDBR64, and instructions with VEX or EVEX, which x86asm takes for instructions of 32-bit mode.
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
		return true // the reason may be in the bytes after the instruction
	}
	if other.Len == in.Len && key != 0 {
		slot.Store(key)
	}
	return other.Len == in.Len
}

// agreed caches instructions for which x86asm found the same length. x86asm takes five times as long as the rest of
// decoding, and a few different instructions make up most of a program. It reads bytes one after the other, so that
// the bytes after an instruction can't change its result.
var agreed [1 << 15]atomic.Uint64

// agreedKey returns a key for an instruction of up to seven bytes: its length and bytes, without the distance of a
// branch, which has no influence on the length. It returns 0 for longer instructions.
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

// x86asmKnows returns false for the opcodes of VEX (C4, C5), EVEX (62) and XOP (8F) in 64-bit mode, and for moves
// from and to control and debug registers (0F 20 to 0F 23), whose ModRM byte x86asm may decode as a memory operand.
func x86asmKnows(opcode []byte) bool {
	switch opcode[0] {
	case 0xc4, 0xc5, 0x62, 0x8f:
		return false
	case 0x0f:
		return len(opcode) < 2 || opcode[1]&^3 != 0x20
	}
	return true
}

// Trim returns the length of code without padding. Go's linker fills the space up to the next function with INT3,
// before Go 1.6 with zeros. The last instruction may end with the same bytes, for example a short jump, so Trim
// decodes the code.
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
			return end // the code is unusable anyway; end is within its size
		}
		at += in.Len
	}
	return at
}
