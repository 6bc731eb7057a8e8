package arm64

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

var machine = arch.Machine{
	Name: "arm64", GOARCH: "arm64", ELF: elf.EM_AARCH64, Quantum: size, SP: "sp", PC: "pc", Flags: "pstate", Resume: "x6",
	// HI is the opposite of the condition of the B.LS that is taken if the check fails.
	Passed: condHI, Below: condLO, Equal: condEQ,
	CheckRepeats: true,
	// DWARF for the Arm 64-bit Architecture, 4.1. CFA is 0 because a call pushes nothing.
	DwarfSP: 31, DwarfFP: 29,
	// Programs can ask for 52 bits on kernels that support them (Documentation/arch/arm64/memory.rst). Go does not.
	AddressBits: 48,
	// The code of BRK #5 (arch/arm64/include/asm/brk-imm.h and uprobes.h, Linux 4.10 to 6.18).
	Breakpoints: [][]byte{{0xa0, 0x00, 0x20, 0xd4}},
	// The directories of Debian, then of other systems.
	Libraries: []string{"lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib64", "usr/lib64"},
	// R_AARCH64_RELATIVE and R_AARCH64_ABS64 (ELF for the Arm 64-bit Architecture, 5.7).
	Relative: uint32(elf.R_AARCH64_RELATIVE), Absolute: uint32(elf.R_AARCH64_ABS64),
	// Functions begin at multiples of 16, and the linker includes the zeros up to there in the size of the function
	// before (cmd/link/internal/ld/data.go, assignAddress).
	LastPadded: math.MaxInt,

	// cmd/compile/abi-internal.md, "arm64 architecture".
	FirstRegisters: 18, // go.dev/doc/go1.18
	ABIInternal: arch.CallConv{
		Ints: x[:16], IntResults: x[:16], Floats: 16, StackArgs: 8, Outgoing: 8, Context: "x26", G: "x28", CheckG: "x28",
	},
	ABI0: abi0, OldABI0: abi0,
	// Procedure Call Standard for the Arm 64-bit Architecture, 6.8 and 6.9. X8 may have changed when the function
	// returns.
	C: arch.CallConv{Ints: x[:8], IntResults: x[:2], Floats: 8, Indirect: "x8", InOrder: true},
	// At a function's entry, X30 holds the return address and X29 the caller's frame pointer. A Go function saves X30 at the
	// bottom of its frame and X29 just below (cmd/internal/obj/arm64/obj7.go, preprocess). A C function saves both at the
	// bottom of its frame or somewhat above.
	Frame: arch.Frames{Return: x[30].Fetch(), Pointer: x[29]}, FirstFramePointers: 12, // go.dev/doc/go1.12
	// DWARF for the Arm 64-bit Architecture, 4.1. The kernel knows the same ones (regs_query_register_offset in
	// arch/arm64/kernel/ptrace.c).
	DwarfRegisters: append(slices.Clone(x), "sp"), DwarfFloats: [2]uint64{64, 95}, Link: "lr",
}

func (processor) Machine() *arch.Machine { return &machine }

// abi0 passes all values on the stack, above a slot for the callee's return address. It has REGG in R28 and REGCTXT in R26
// (cmd/internal/obj/arm64/a.out.go, Go 1.5 to 1.26).
var abi0 = arch.CallConv{StackArgs: 8, Outgoing: 8, Context: "x26", G: "x28", CheckG: "x28"}

// x lists the general registers by their DWARF numbers, which is also the order in which arguments use them.
var x = func() (all []arch.Reg) {
	for i := range 31 {
		all = append(all, arch.Reg(fmt.Sprint("x", i)))
	}
	return all
}()

// mostFloats is the maximum number of floating-point numbers of a value in registers.
const mostFloats = 4

// PassC returns a register for each floating-point number if the value consists of up to four of them, all of the same
// size. Otherwise it returns words for up to 16 bytes, and the address of a larger value (Procedure Call Standard
// for the Arm 64-bit Architecture, 5.9.5 and 6.8.2).
func (processor) PassC(t *gotype.Type) (parts []arch.Part, byRef bool, err error) {
	if t.Size > 8*mostFloats { // gotype has no floating-point type of 16 bytes
		return nil, true, nil
	}
	scalars, err := arch.Scalars(t)
	other := func(p arch.Part) bool { return !p.Float || p.Size != scalars[0].Size }
	floats := len(scalars) <= mostFloats && !slices.ContainsFunc(scalars, other)
	switch {
	case err != nil && floats: // the unknown part decides
		return nil, false, err
	case floats && len(scalars) > 0 && int64(len(scalars))*scalars[0].Size == t.Size:
		return scalars, false, nil
	case t.Size > 16:
		return nil, true, nil
	}
	for at := int64(0); at < t.Size; at += 8 {
		parts = append(parts, arch.Part{Offset: at, Size: min(8, t.Size-at)})
	}
	return parts, false, nil
}

// Bits of pstate that decide conditional branches (DDI 0487, C5.2.10).
const (
	overflow = 1 << 28
	carry    = 1 << 29
	zero     = 1 << 30
	negative = 1 << 31
)

// Failed selects hits at which B.LS is taken, because C is clear or Z is set.
func (processor) Failed(field string) string {
	return fmt.Sprintf("!(%[1]s & %[2]d) || %[1]s & %[3]d", field, carry, zero)
}

// Taken evaluates a condition like ConditionHolds of the manual (DDI 0487, J1.3). An odd condition is the opposite of the
// even one before it, except the last one, which always holds.
func (processor) Taken(cond arch.Cond, flags uint64) (taken bool) {
	sign := (flags&negative != 0) == (flags&overflow != 0)
	switch cond >> 1 & 7 {
	case 0:
		taken = flags&zero != 0
	case 1:
		taken = flags&carry != 0
	case 2:
		taken = flags&negative != 0
	case 3:
		taken = flags&overflow != 0
	case 4:
		taken = flags&carry != 0 && flags&zero == 0
	case 5:
		taken = sign
	case 6:
		taken = sign && flags&zero == 0
	default:
		return true
	}
	return taken != (cond&1 != 0)
}
