package amd64

import (
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
