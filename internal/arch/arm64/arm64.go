// Package arm64 implements package arch for 64-bit Arm: the target of an instruction, the effect of a uprobe on it, and
// the calling conventions of Go and C. It reads only words of A64 code.
//
// All instructions have 4 bytes, so the decoder need not know them all. A word that is no branch, no load of a literal,
// no exclusive access and no system instruction continues with the next one.
package arm64

import (
	"encoding/binary"
	"errors"

	"github.com/ftgo/ftgo/internal/arch"
)

// Processor implements [arch.Processor] for 64-bit Arm.
var Processor arch.Processor = processor{}

type processor struct{}

func init() { arch.Processors = append(arch.Processors, Processor) }

// size is the size of every instruction in bytes.
const size = 4

var (
	errTruncated = errors.New("decode instruction: code ends inside it")
	errUndefined = errors.New("decode instruction: unallocated encoding")
)

// word returns the instruction at the start of code, which must have at least four bytes.
func word(code []byte) uint32 { return binary.LittleEndian.Uint32(code) }

// Decode decodes an instruction by the class of its word.
func (processor) Decode(code []byte) (in arch.Inst, err error) {
	if len(code) < size {
		return in, errTruncated
	}
	w := word(code)
	in = arch.Inst{Len: size, Kind: arch.Other, Cond: arch.NoCond}
	switch classify(w) {
	case undefined:
		return arch.Inst{}, errUndefined
	case nop:
		in.Kind = arch.Nop
	case jump:
		in.Kind, in.To = arch.Jump, target(w)
	case call:
		in.Kind, in.To = arch.Call, target(w)
	case condJump, newCond:
		in.Kind, in.To = arch.CondJump, target(w)
		if w>>24 == 0x54 {
			in.Cond = arch.Cond(w & 15)
		}
		if in.Cond == condAL || in.Cond == condNV {
			in.Kind, in.Cond = arch.Jump, arch.NoCond
		}
	case callReg, authCall:
		in.Kind = arch.IndirectCall
	case jumpReg, authJump:
		in.Kind = arch.IndirectJump
		if w>>5&31 == temporary {
			in.Kind = arch.SwitchJump
		}
	case ret, authRet:
		in.Kind = arch.Return
	case literal:
		in.Kind, in.To = arch.Literal, target(w)
	case trap:
		in.Kind = arch.Trap
	}
	return in, nil
}

// Trim returns the length of a function without padding and constants. Go's linker fills the space up to the next function
// with zeros and includes them in the size of the symbol. Up to 1.21 constants may precede the zeros (flushpool in
// cmd/internal/obj/arm64/asm7.go), some of which no load refers to. They begin after an instruction that never
// continues with the next one, and no branch leads there or beyond.
func (processor) Trim(function []byte) int {
	n := len(function) &^ (size - 1)
	for n > size && word(function[n-size:]) == 0 {
		n -= size
	}
	end, far, data := 0, 0, n
	for at := 0; at < n; at += size {
		w := word(function[at:])
		c := classify(w)
		if (c == undefined || at == data) && end > 0 {
			if far < end {
				return end
			}
			return n
		}
		switch c {
		case jump, condJump, newCond:
			if to := at + int(target(w)); to < n {
				far = max(far, to)
			}
		case literal:
			if to := at + int(target(w)); to > at {
				data = min(data, to)
			}
		}
		if !goesOn(c) {
			end = at + size
		}
	}
	return n
}

// goesOn reports whether execution may continue with the next instruction.
func goesOn(c class) bool {
	switch c {
	case jump, jumpReg, authJump, ret, authRet, trap, undefined:
		return false
	}
	return true
}

// SplitsStack returns false, because GCC does not support split stacks on this processor (gcc/config defines
// TARGET_SUPPORTS_SPLIT_STACK for i386, rs6000 and s390 only).
func (processor) SplitsStack([]byte) bool { return false }
