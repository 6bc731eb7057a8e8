package amd64

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

var machine = arch.Machine{
	Name: "x86-64", GOARCH: "amd64", ELF: elf.EM_X86_64, Quantum: 1, SP: "sp", PC: "ip", Flags: "flags", Resume: "bx",
	// Go 1.4 uses JA to jump if the check passed. Later versions use its opposite, JBE, to jump if it failed.
	Passed: condA, Below: condB, Equal: condE,
	// DWARF numbers: System V ABI for x86-64, figure 3.36. CFA is 8 because a call pushes the return address.
	DwarfSP: 7, DwarfFP: 6, CFA: 8,
	SteppedReturn: true,
	// Programs can ask for 57 bits if the page tables have five levels. Go does not.
	AddressBits: 47,
	// INT3, or the call that replaces a probed nop of five bytes (arch/x86/kernel/uprobes.c, arch_uprobe_optimize,
	// since Linux 6.18).
	Breakpoints: [][]byte{{0xcc}, {0xe8}},
	// The directories of Debian, then of other systems.
	Libraries: []string{"lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64"},
	// R_X86_64_RELATIVE and R_X86_64_64 (System V ABI, x86-64, 4.4).
	Relative: uint32(elf.R_X86_64_RELATIVE), Absolute: uint32(elf.R_X86_64_64),
	LastPadded: 6, // Go 1.5 includes the padding, 1.7 does not

	FirstRegisters: 17, // Go 1.17 also keeps g in R14 (go.dev/doc/go1.17)
	ABIInternal: arch.CallConv{
		Ints: goRegisters, IntResults: goRegisters, Floats: 15, StackArgs: 8, Context: "dx", G: "r14", CheckG: "r14",
	},
	ABI0: arch.CallConv{StackArgs: 8, Context: "dx", G: "r14", CheckG: "r14"},
	// Before 1.17 g is in thread-local storage, which probes can't fetch. The stack check loads it into CX.
	OldABI0: arch.CallConv{StackArgs: 8, Context: "dx", CheckG: "cx"},
	// System V ABI for x86-64, 3.2.3.
	C: arch.CallConv{
		Ints: []arch.Reg{"di", "si", "dx", "cx", "r8", "r9"}, IntResults: []arch.Reg{"ax", "dx"}, Floats: 8, StackArgs: 8,
		Returned: "ax",
	},
	Frame: arch.Frames{Return: "+0(%sp)", Pointer: "bp", Pushed: 8, AtTop: true}, FirstFramePointers: 7,
	// System V ABI for x86-64, figure 3.36. The kernel knows the same ones (regs_query_register_offset in
	// arch/x86/kernel/ptrace.c), and segments.
	DwarfRegisters: []arch.Reg{
		"ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	},
	DwarfFloats: [2]uint64{17, 32},
}

func (processor) Machine() *arch.Machine { return &machine }

// goRegisters are those of cmd/compile/abi-internal.md, "amd64 architecture".
var goRegisters = []arch.Reg{"ax", "bx", "cx", "di", "si", "r8", "r9", "r10", "r11"}

// PassC classifies each eight bytes of a value as floating point (SSE) or not (INTEGER). It returns no parts if the
// value is passed in memory.
func (processor) PassC(t *gotype.Type) (parts []arch.Part, byRef bool, err error) {
	if t.Size > 16 {
		return nil, false, nil
	}
	scalars, err := arch.Scalars(t)
	if err != nil {
		return nil, false, err
	}
	for at := int64(0); at < t.Size; at += 8 {
		integer := slices.ContainsFunc(scalars, func(p arch.Part) bool { return !p.Float && p.Offset < at+8 && at < p.Offset+p.Size })
		parts = append(parts, arch.Part{Offset: at, Size: min(8, t.Size-at), Float: !integer})
	}
	return parts, false, nil
}

// Bits of RFLAGS that decide conditional jumps (Intel SDM vol. 1, 3.4.3.1).
const (
	carryFlag    = 1 << 0
	parityFlag   = 1 << 2
	zeroFlag     = 1 << 6
	signFlag     = 1 << 7
	overflowFlag = 1 << 11
)

// Condition nibbles (SDM vol. 1, appendix B).
const (
	condB  = 2
	condE  = 4
	condBE = 6
	condA  = 7
)

// conditions holds the flags for the conditions o, b, e, be, s, p, l and le. A condition holds if one of its flags is
// set. l and le also hold if the sign flag differs from the overflow flag.
var conditions = [8]uint64{
	overflowFlag, carryFlag, zeroFlag, carryFlag | zeroFlag, signFlag, parityFlag, 0, zeroFlag,
}

// Failed selects hits with the flags of JBE, of which one is set if the stack check failed.
func (processor) Failed(field string) string {
	return fmt.Sprintf("%s & %d", field, conditions[condBE>>1])
}

// Taken evaluates a condition, which is the low four bits of a jump's opcode (Intel SDM vol. 1, appendix B). An odd
// condition is the opposite of the even one before it.
func (processor) Taken(cond arch.Cond, flags uint64) bool {
	n := cond >> 1 & 7
	taken := flags&conditions[n] != 0 || n >= 6 && (flags&signFlag != 0) != (flags&overflowFlag != 0)
	return taken != (cond&1 != 0)
}
