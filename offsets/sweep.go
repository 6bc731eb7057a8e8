package offsets

import (
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/insn"
)

// stretch is a piece of code that was decoded from its first byte to its last; all
// numbers are offsets from its start.
type stretch struct {
	boundary []bool // an instruction begins here
	returns  []int
	inner    []jump // direct ones that stay inside
	jumps    []jump // that leave it, or may: the indirect ones
	restarts bool   // a jump leads to its start
	last     insn.Inst
}

// jump is a jump out of a stretch; to is where a direct one leads.
type jump struct {
	at, to int
	in     insn.Inst
}

// decode decodes a stretch of code.
//
// It goes straight on rather than along the branches: the epilogue through which a
// function leaves that has recovered a panic is reached by no branch of its own.
// What makes that safe is that any doubt ends it: a byte that is no instruction, two
// decoders that disagree, a branch into the middle of an instruction (as data
// between instructions produces, which may even look like a RET).
func decode(code []byte) (*stretch, error) {
	if len(code) == 0 {
		return nil, errors.New("no code")
	}
	s := &stretch{boundary: make([]bool, len(code))}
	for at := 0; at < len(code); {
		in, err := insn.Decode(code[at:])
		if err != nil {
			return nil, fmt.Errorf("undecodable at +%#x: %w", at, err)
		}
		if !agrees(code[at:], in) {
			return nil, fmt.Errorf("decoders disagree at +%#x", at)
		}
		s.boundary[at] = true
		switch in.Kind {
		case insn.Return:
			s.returns = append(s.returns, at)
		case insn.Jump, insn.CondJump:
			j := jump{at, at + in.Len + int(in.Rel), in}
			if j.to >= 0 && j.to < len(code) {
				s.inner = append(s.inner, j)
			} else {
				s.jumps = append(s.jumps, j)
			}
		case insn.IndirectJump:
			s.jumps = append(s.jumps, jump{at, 0, in})
		}
		if op := code[at+in.Prefix]; op != 0x90 && (op != 0x0f || code[at+in.Prefix+1] != 0x1f) {
			s.last = in // but for padding: NOP
		}
		at += in.Len
	}
	for _, j := range s.inner {
		if !s.boundary[j.to] {
			return nil, middle(j.at, j.to)
		}
		if j.to == 0 {
			s.restarts = true
		}
	}
	return s, nil
}

func middle(from, to int) error {
	return fmt.Errorf("branch at %+#x into the middle of an instruction at %+#x (data among the code?)", from, to)
}

// body is where a function ends, as offsets from its start: a part that the compiler
// has moved elsewhere lies before 0 or beyond the function's size.
type body struct {
	parts                     []part
	boundary                  []bool // of the function itself
	returns, tails, condTails []int
	restarts                  bool
	landings                  []int // where direct jumps inside the function lead
	switches                  bool  // others lead from one place in it to another, or may
}

// sweep decodes a function of Go, which is all in one piece.
func sweep(code []byte) (*body, error) {
	s, err := decode(code)
	if err != nil {
		return nil, err
	}
	b := &body{boundary: s.boundary, returns: s.returns, restarts: s.restarts}
	for _, j := range s.inner {
		b.landings = append(b.landings, j.to)
	}
	for _, j := range s.jumps {
		b.switches = b.switches || j.in.Kind == insn.IndirectJump
		switch {
		case j.in.Kind == insn.CondJump:
			return nil, fmt.Errorf("leaves by a conditional jump at +%#x", j.at)
		case j.in.Table: // of the function's own: stays inside
		default:
			b.tails = append(b.tails, j.at)
		}
	}
	return b, nil
}

// agrees compares the length of an instruction with what x86asm finds, where that
// has an opinion: it knows neither ENDBR64 nor VEX and EVEX, which it takes for
// instructions that 64-bit mode has not.
func agrees(code []byte, in insn.Inst) bool {
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
func agreedKey(code []byte, in insn.Inst) (key uint64) {
	switch size := len(code); {
	case size > 7:
		return 0
	case in.Prefix == 0 && size > 4 && (in.Kind == insn.Call || in.Kind == insn.Jump || in.Kind == insn.CondJump):
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
