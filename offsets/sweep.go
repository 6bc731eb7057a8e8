package offsets

import (
	"errors"
	"fmt"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/offsets/insn"
)

// body is what one pass over a function's bytes finds; all numbers are offsets from
// the function's start.
type body struct {
	boundary       []bool // an instruction begins here
	returns, tails []int
	restarts       bool
}

// sweep decodes a function from its first byte to its last.
//
// It goes straight on rather than along the branches: the epilogue through which a
// function leaves that has recovered a panic is reached by no branch of its own.
// What makes that safe is that any doubt ends it: a byte that is no instruction, two
// decoders that disagree, a branch into the middle of an instruction (as data
// between instructions produces, which may even look like a RET).
func sweep(code []byte) (*body, error) {
	b := &body{boundary: make([]bool, len(code))}
	type branch struct{ from, to int }
	var branches []branch
	var last insn.Inst
	for at := 0; at < len(code); at += last.Len {
		in, err := insn.Decode(code[at:])
		if err != nil {
			return nil, fmt.Errorf("undecodable at +%#x: %w", at, err)
		}
		if !agrees(code[at:], in) {
			return nil, fmt.Errorf("decoders disagree at +%#x", at)
		}
		b.boundary[at] = true
		last = in
		switch in.Kind {
		case insn.Return:
			b.returns = append(b.returns, at)
		case insn.Jump, insn.CondJump:
			to := at + in.Len + int(in.Rel)
			inside := to >= 0 && to < len(code)
			switch {
			case inside:
				branches = append(branches, branch{at, to})
			case in.Kind == insn.CondJump:
				return nil, fmt.Errorf("leaves by a conditional jump at +%#x", at)
			default:
				b.tails = append(b.tails, at)
			}
		case insn.IndirectJump:
			// A jump through a table of the function's own stays inside.
			if !in.Table {
				b.tails = append(b.tails, at)
			}
		}
	}
	for _, br := range branches {
		if !b.boundary[br.to] {
			return nil, fmt.Errorf("branch at +%#x into the middle of an instruction at +%#x (data among the code?)", br.from, br.to)
		}
		if br.to == 0 {
			b.restarts = true
		}
	}
	if len(code) == 0 {
		return nil, errors.New("no code")
	}
	return b, nil
}

// agrees compares the length of an instruction with what x86asm finds, where that
// has an opinion: it knows neither ENDBR64 nor VEX and EVEX, which it takes for
// instructions that 64-bit mode has not.
func agrees(code []byte, in insn.Inst) bool {
	if in.Len <= in.Prefix || !x86asmKnows(code[in.Prefix]) {
		return true
	}
	other, err := x86asm.Decode(code, 64)
	return err != nil || other.Op == 0 || other.Len == in.Len
}

// x86asmKnows is false for the first opcode bytes that stand for VEX (C4, C5), EVEX
// (62) and XOP (8F) in 64-bit mode.
func x86asmKnows(opcode byte) bool {
	return opcode != 0xc4 && opcode != 0xc5 && opcode != 0x62 && opcode != 0x8f
}
