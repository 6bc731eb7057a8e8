// Package arm64 knows 64-bit Arm: where an instruction branches to, what a uprobe does when it
// is put on it, and where Go and C keep what calls are known by. It reads words of A64 code and nothing else.
//
// All instructions have 4 bytes, so that no decoder has to know them all: a word that is no branch, no load of a
// literal, no exclusive access and no system instruction goes on to the next, whatever its name.
package arm64

import (
	"encoding/binary"
	"errors"

	"github.com/ftgo/ftgo/offsets/arch"
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
	case trap:
		in.Kind = arch.Trap
	}
	return in, nil
}

// Trim: Go's linker fills the room up to the next function with zeros, and counts them in the size of symbols.
func (processor) Trim(function []byte) int {
	n := len(function) &^ (size - 1)
	for n > size && word(function[n-size:]) == 0 {
		n -= size
	}
	return n
}

// Alike compares the bytes.
func (processor) Alike(x, y []byte, _ uint64, _ func(arch.Reference) bool) (at int, ok bool) {
	for at < len(x) && at < len(y) && x[at] == y[at] {
		at++
	}
	return at &^ (size - 1), at == len(x) && at == len(y)
}

// Leads does not know.
func (processor) Leads(uint64, arch.Way) (inside, ok bool) { return false, false }

// Read knows none.
func (processor) Read([]byte) []arch.Reg { return nil }

// Spilled knows none.
func (processor) Spilled([]byte, arch.Check) (spills []arch.Spill, ok bool) { return nil, false }

// SplitsStack knows no such code.
func (processor) SplitsStack([]byte) bool { return false }
