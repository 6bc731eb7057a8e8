package arm64

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/gotype"
)

var machine = arch.Machine{
	Name: "arm64", GOARCH: "arm64", Quantum: size, SP: "sp", Flags: "pstate", Filler: "x0",
	DwarfSP: 31, DwarfFP: 29,
	Libraries: []string{"lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib64", "usr/lib64"}, LibraryFlags: 0x0a03,
	Relative: uint32(elf.R_AARCH64_RELATIVE), Absolute: uint32(elf.R_AARCH64_ABS64),
	LastPadded:     1 << 16, // all versions
	FirstRegisters: 18,
}

func (processor) Machine() *arch.Machine { return &machine }

func xs(n int) (all []arch.Reg) {
	for i := range n {
		all = append(all, arch.Reg(fmt.Sprint("x", i)))
	}
	return all
}

var (
	integers = xs(31)
	internal = arch.CallConv{
		Ints: integers[:16], IntResults: integers[:16], Floats: 16, StackArgs: 8, Outgoing: 8, Context: "x26", G: "x28", CheckG: "x28",
	}
	abi0   = arch.CallConv{StackArgs: 8, Outgoing: 8, Context: "x26", G: "x28", CheckG: "x28"}
	aapcs  = arch.CallConv{Ints: integers[:8], IntResults: integers[:2], Floats: 8, Indirect: "x8"}
	frames = arch.Frames{Return: "%x30", Pointer: "x29", Kept: true}
)

func (processor) Go(minor int, assembly bool) *arch.CallConv {
	if assembly || minor < machine.FirstRegisters {
		return &abi0
	}
	return &internal
}

func (processor) C() *arch.CallConv { return &aapcs }

func (processor) PassC(*gotype.Type) (p arch.Passing, err error) {
	return p, errors.New("how C passes values of its type is not known")
}

func (processor) Frames(int) *arch.Frames { return &frames }

func (processor) Fetches(r arch.Reg) bool {
	return slices.Contains(integers, r) || r == machine.SP || r == machine.Flags || r == "pc" || r == "lr"
}

func (processor) DwarfReg(n uint64) (arch.Reg, bool) {
	if n < uint64(len(integers)) {
		return integers[n], true
	}
	return "", 64 <= n && n < 96
}
