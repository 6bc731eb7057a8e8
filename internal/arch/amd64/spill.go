package amd64

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ftgo/ftgo/internal/arch"
)

// numbered maps x86asm's names of argument registers to those of fetchargs.
var numbered = map[x86asm.Reg]arch.Reg{
	x86asm.RAX: "ax", x86asm.RBX: "bx", x86asm.RCX: "cx", x86asm.RDI: "di", x86asm.RSI: "si",
	x86asm.R8: "r8", x86asm.R9: "r9", x86asm.R10: "r10", x86asm.R11: "r11",
}

// Spills knows the stores MOVB to MOVQ, MOVSS, MOVSD and MOVUPS.
func (processor) Spills(code []byte) (spills []arch.Spill, ok bool) {
	in, err := x86asm.Decode(code, 64)
	if err != nil {
		return nil, false
	}
	to, ok1 := in.Args[0].(x86asm.Mem)
	from, ok2 := in.Args[1].(x86asm.Reg)
	if !ok1 || !ok2 || to.Base != x86asm.RSP || to.Index != 0 || to.Segment != 0 {
		return nil, false
	}
	s := arch.Spill{Disp: to.Disp, Size: int64(in.MemBytes)}
	switch in.Op {
	case x86asm.MOV:
		s.Register, ok = numbered[wide(from)]
	case x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVUPS:
		ok = isVector(from)
	}
	return []arch.Spill{s}, ok
}

// maxRead is the maximum number of instructions that Read decodes.
const maxRead = 64

// Read returns the argument registers that the function reads before it writes them. It stops after maxRead instructions, at a
// call, return or jump without a condition, and at the first instruction whose operands it does not know.
func (processor) Read(code []byte) (read []arch.Reg) {
	written := make(map[x86asm.Reg]bool)
	reads := func(r x86asm.Reg) {
		if name, ok := numbered[wide(r)]; ok && !written[wide(r)] && !slices.Contains(read, name) {
			read = append(read, name)
		}
	}
	for p, n := 0, 0; p < len(code) && n < maxRead; n++ {
		in, err := decode(code[p:])
		if err != nil || !in.Kind.GoesOn() && in.Kind != arch.CondJump || !x86asmKnows(code[p+in.Prefix:]) {
			return read
		}
		x, err := x86asm.Decode(code[p:p+in.Len], 64)
		if p += in.Len; in.Kind == arch.Nop || x.Op == x86asm.PUSH {
			continue
		}
		has := traits[x.Op]
		if err != nil || has.facts&listed == 0 || x.Op == x86asm.XCHG || x.Op == x86asm.XADD {
			return read
		}
		zeroes := (x.Op == x86asm.XOR || x.Op == x86asm.SUB || x.Op == x86asm.SBB) && x.Args[0] == x.Args[1]
		for i, arg := range x.Args {
			switch a := arg.(type) {
			case x86asm.Reg:
				if (i > 0 || has.facts&updates != 0) && !zeroes {
					reads(a)
				}
			case x86asm.Mem:
				reads(a.Base)
				reads(a.Index)
			}
		}
		if dst, ok := x.Args[0].(x86asm.Reg); ok && has.facts&writesFirst != 0 {
			written[wide(dst)] = true
		}
		for _, r := range has.writes {
			written[r] = true
		}
	}
	return read
}
