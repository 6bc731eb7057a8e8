// Package arm64 knows 64-bit Arm: where an instruction branches to, what a uprobe does when it
// is put on it, and where Go and C keep what calls are known by. It reads words of A64 code and nothing else.
//
// All instructions have 4 bytes, so that no decoder has to know them all: a word that is no branch, no load of a
// literal, no exclusive access and no system instruction goes on to the next, whatever its name.
package arm64

import (
	"encoding/binary"
	"errors"

	"github.com/ftgo/ftgo/internal/arch"
)

// Processor is 64-bit Arm.
var Processor arch.Processor = processor{}

type processor struct{}

// size is that of all instructions.
const size = 4

var (
	errTruncated = errors.New("decode instruction: code ends inside it")
	errUndefined = errors.New("decode instruction: unallocated encoding")
)

// word is the instruction at the start of code, which has four bytes or more.
func word(code []byte) uint32 { return binary.LittleEndian.Uint32(code) }

// Decode decodes by classes of words.
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

// Trim takes off what is no code: Go's linker fills the room up to the next function with zeros, and counts
// them in the size of symbols; up to 1.21 constants come before them (flushpool in
// cmd/internal/obj/arm64/asm7.go), to which loads refer, or nothing. They begin behind an instruction that
// does not go on to the next, and no branch leads there or beyond.
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

// goesOn tells whether the next instruction may be executed after one.
func goesOn(c class) bool {
	switch c {
	case jump, jumpReg, authJump, ret, authRet, trap, undefined:
		return false
	}
	return true
}

// SplitsStack: GCC splits no stack on this processor (TARGET_SUPPORTS_SPLIT_STACK is defined in
// gcc/config of i386, rs6000 and s390 only).
func (processor) SplitsStack([]byte) bool { return false }
