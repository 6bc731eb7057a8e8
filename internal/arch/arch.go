// Package arch defines everything that depends on the processor that a program is compiled for, such as the decoding
// of instructions and the cost of a probe on one. A [Processor] implements it for one kind of processor. Package
// offsets chooses the Processor by the ELF header.
package arch

import (
	"debug/elf"
	"fmt"
	"runtime"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// Processor is one kind of processor. It has no state, so that any number of goroutines may use it at the same time.
// Parameters named code and function are machine code.
type Processor interface {
	// Machine returns the processor's names and numbers.
	Machine() *Machine
	// Decode decodes the instruction at the start of code. It uses two decoders and returns an error if they find
	// different lengths, because a probe in the middle of an instruction corrupts the program.
	Decode(code []byte) (Inst, error)
	// Cost returns the cost of a probe on the instruction at an offset of a function.
	Cost(function []byte, at int) Cost
	// Effects returns what the instruction at the start of code certainly does not change.
	Effects(code []byte) Effects
	// Leads reports whether the indirect jump at an address stays inside its C function. ok is false if the code does
	// not show where the jump leads.
	Leads(at uint64, w Way) (inside, ok bool)
	// Sets reports whether the instruction at an address writes a general register. known is false if that is not certain.
	// Registers are identified by numbers of the processor's own.
	Sets(w Way, at uint64, r int) (sets, known bool)
	// WrittenLeads reports whether the value that an instruction writes to a register is an address inside the function. ok
	// is false if that is unknown.
	WrittenLeads(s *Search, at uint64, r int) (inside, ok bool)
	// Alike reports whether two functions that begin at the same address have the same code. Their instructions may
	// refer to data at different addresses x and y. Alike calls same to compare x and y. If absolute is true, x and y are
	// numbers in the code that may or may not be addresses. If ok is false, at is the offset of the first instruction
	// that differs.
	Alike(x, y []byte, addr uint64, same func(x, y uint64, absolute bool) bool) (at int, ok bool)
	// Trim returns the length in bytes of a function without the padding that Go's linker appends to it.
	Trim(function []byte) int
	// ChecksStack reports whether an instruction may precede the jump of a [Check], and whether it reads a stack guard.
	ChecksStack(code []byte) (ok, guard bool)
	// Spills returns the registers that an instruction saves on the stack. ok is false for instructions that no Go function
	// has before its call of runtime.morestack, except nops.
	Spills(code []byte) (spills []Spill, ok bool)
	// SplitsStack reports whether a function begins with GCC's check of a split stack (-fsplit-stack).
	SplitsStack(function []byte) bool
	// PassC returns the parts in which C passes a value of a type in registers. It returns no parts if C passes the
	// value in memory. If byRef is true, C passes the address of the value instead.
	PassC(t *gotype.Type) (parts []Part, byRef bool, err error)
	// Taken reports whether a conditional jump is taken with these flags.
	Taken(c Cond, flags uint64) bool
	// Failed returns a filter for the kernel that selects hits at [Check].Jump at which the check fails. The flags
	// are in the event's field.
	Failed(field string) string
}

// Processors lists the supported processors. The packages below this one add theirs, and package image of offsets imports
// these packages.
var Processors []Processor

// Find returns the first processor for which match returns true, or nil.
func Find(match func(Processor) bool) Processor {
	for _, p := range Processors {
		if match(p) {
			return p
		}
	}
	return nil
}

// Here returns the processor of this machine, or nil if it is not supported.
func Here() Processor {
	return Find(func(p Processor) bool { return p.Machine().GOARCH == runtime.GOARCH })
}

// Kind is the effect of an instruction on the flow of control.
type Kind uint8

const (
	Other        Kind = iota // continues with the next instruction
	Return                   // returns to the caller
	Jump                     // jumps to a known address
	CondJump                 // jumps to a known address or continues
	Call                     // calls a known address
	IndirectJump             // jumps through a register or memory
	IndirectCall             // calls through a register or memory
	Trap                     // raises an exception
	Nop                      // continues and changes nothing
	Literal                  // loads data from a known address near it and continues
	// SwitchJump is an indirect jump of a form that Go's compiler uses for switch statements only.
	SwitchJump
)

// Cond is the number of a condition of a conditional jump. Each processor numbers its conditions. Recordings contain Cond.
type Cond uint8

// NoCond is the Cond of an instruction whose flow does not depend on the flags. A conditional jump with NoCond
// depends on a register.
const NoCond Cond = 0xff

// GoesOn reports whether execution always continues with the next instruction.
func (k Kind) GoesOn() bool { return k == Other || k == Nop || k == Literal }

// Indirect reports whether the instruction is a jump through a register or memory.
func (k Kind) Indirect() bool { return k == IndirectJump || k == SwitchJump }

// Inst is a decoded instruction. It has only four fields, so that the compiler keeps it in registers: programs have
// millions of instructions.
type Inst struct {
	Len  int // in bytes
	Kind Kind
	Cond Cond
	// To is the target of a direct branch, or the place of a Literal's data, relative to the start of the
	// instruction.
	To int64
}

// Cost is the cost of a probe on an instruction. If neither Emulated nor Later nor Refused is set, the kernel
// single-steps a copy of the instruction, which costs a second trap.
type Cost struct {
	// Later names the kind of an instruction that only newer kernels emulate. Refused is the reason why some
	// kernel refuses the instruction, or accepts it and then misbehaves.
	Later, Refused string
	// Emulated means that every kernel emulates the instruction in its trap handler.
	Emulated bool
	// Passable means that the instruction is Refused, but changes neither the stack pointer nor the flow of
	// control, so that the probe may be placed on the next instruction.
	Passable bool
	// Cond is the condition of a conditional jump. It decides what a hit means. For a stack check, it is the condition
	// that holds if the check passes. Package offsets sets Cond.
	Cond Cond
}

// Stepped reports whether the kernel single-steps a copy.
func (c Cost) Stepped() bool { return !c.Emulated && c.Later == "" && c.Refused == "" }

// Check is the check of the stack's size in the prologue of a Go function. If the check fails, the function calls
// runtime.morestack and starts over, so its first instruction runs more often than the function is called.
type Check struct {
	// Jump is the offset of the conditional jump that decides. It runs once for each check, passed or failed. Until
	// Jump has run, the stack pointer, the arguments and the closure context are as at the call.
	Jump int
	// Post is the offset of the first instruction after a passed check.
	Post int
	// Repeats means that Post may run twice in a call, because a goroutine that is preempted there repeats it.
	// Then only Jump counts calls.
	Repeats bool
}

// Spill is the register of an argument, "" for a floating-point register, and the stack slot reserved for the
// argument: Disp bytes above SP at the function's entry.
type Spill struct {
	Register   Reg
	Disp, Size int64
}

// Effects says what an instruction certainly does not change.
type Effects struct {
	// KeepsFrame means that the instruction raises no signal and writes neither the stack pointer nor the frame pointer, nor
	// the register that holds g, nor the return address.
	KeepsFrame bool
	// KeepsRegisters means that the instruction writes none of the registers that hold arguments and that probes can fetch.
	KeepsRegisters bool
	// KeepsMemory means that the instruction writes no memory.
	KeepsMemory bool
	// Repeats means that Go's assembler may have made several instructions from one, and that this one is the first of
	// them. It runs again if the goroutine is preempted before the last of them.
	Repeats bool
}

// Way gives access to the function around a jump. Addresses identify instructions, because a function may have parts
// anywhere in the file.
type Way interface {
	// Start returns the address of the function's first instruction.
	Start() uint64
	// Code returns the code from an address on.
	Code(at uint64) []byte
	// Above returns the address of the instruction that ends at an address.
	Above(at uint64) (above uint64, ok bool)
	// Before returns the addresses of the instructions after which the instruction at an address may run next.
	Before(at uint64) []uint64
	// Inside reports whether the code at an address belongs to the function and not to another one. ok is false
	// if it is unknown.
	Inside(addr uint64) (inside, ok bool)
	// Pointer reads a word of data that holds an address in the same file.
	Pointer(at uint64) (addr uint64, ok bool)
}

// Reg is the name of a register in fetchargs, without the %: "sp".
type Reg string

// Fetch returns the fetcharg of the register's value.
func (r Reg) Fetch() string { return "%" + string(r) }

// At returns the fetcharg of the memory at the register's value plus disp.
func (r Reg) At(disp int64) string { return fmt.Sprintf("%+d(%s)", disp, r.Fetch()) }

// Machine holds the names and numbers of a processor.
type Machine struct {
	// Name is the common name, GOARCH Go's name. Recordings contain Name.
	Name, GOARCH string
	// ELF is the machine number in the ELF header.
	ELF elf.Machine
	// Quantum divides the sizes of all instructions.
	Quantum byte
	// SP is the stack pointer, PC holds the address of the probed instruction, Flags decide conditional jumps, and
	// Resume is the register that holds the address at which a goroutine goes on, when it does so (gogo in
	// runtime/asm_*.s, Go 1.17 to 1.27). ftgo also fetches it where any register will do.
	SP, PC, Flags, Resume Reg
	// DwarfSP and DwarfFP are DWARF's numbers of the stack and the frame pointer.
	DwarfSP, DwarfFP uint64
	// Passed is the condition that holds at [Check].Jump if the check passes. Below and Equal are the conditions of jumps
	// before it, which large frames need.
	Passed, Below, Equal Cond
	// CheckRepeats is the [Check].Repeats of every check.
	CheckRepeats bool
	// CFA is the distance in bytes of DWARF's canonical frame address from SP at a function's entry.
	CFA int64
	// SteppedReturn means that kernels single-step return instructions.
	SteppedReturn bool
	// Breakpoints are the first bytes of the instructions that the kernel may write at a probe.
	Breakpoints [][]byte
	// LastPadded is the last minor version of Go that may include a function's padding in its size.
	LastPadded int
	// AddressBits is the number of bits of a user-space address, unless a program asks for more.
	AddressBits int
	// Relative and Absolute are the types of ELF relocations that set a word to an address in the same file and to
	// the address of a symbol.
	Relative, Absolute uint32
	// Libraries are the processor's directories of the dynamic loader.
	Libraries []string
	// ABIInternal is the calling convention of Go since minor version FirstRegisters, which passes arguments in registers,
	// ABI0 that of assembly functions since then, and OldABI0 that of all functions before. C is that of C.
	ABIInternal, ABI0, OldABI0, C CallConv
	FirstRegisters                int
	// Frame is the layout of stack frames. Functions maintain frame pointers since minor version FirstFramePointers.
	Frame              Frames
	FirstFramePointers int
	// DwarfRegisters are the integer registers by their numbers in DWARF. DwarfFloats are the numbers of the first and the
	// last floating-point register.
	DwarfRegisters []Reg
	DwarfFloats    [2]uint64
	// Link is another name for a register in fetchargs, or "".
	Link Reg
}

// Go returns the calling convention of a minor version of Go. For assembly functions, it returns ABI0.
func (m *Machine) Go(minor int, assembly bool) *CallConv {
	switch {
	case minor < m.FirstRegisters:
		return &m.OldABI0
	case assembly:
		return &m.ABI0
	}
	return &m.ABIInternal
}

// Frames returns the layout of stack frames of a minor version of Go. C has the frames of minor version 0.
func (m *Machine) Frames(minor int) *Frames {
	f := m.Frame
	f.Kept = minor == 0 || minor >= m.FirstFramePointers
	return &f
}

// DwarfReg returns the register with a number in DWARF, or "" for a floating-point register. ok is false if no register
// for values has that number.
func (m *Machine) DwarfReg(n uint64) (r Reg, ok bool) {
	if n < uint64(len(m.DwarfRegisters)) {
		return m.DwarfRegisters[n], true
	}
	return "", m.DwarfFloats[0] <= n && n <= m.DwarfFloats[1]
}

// Fetches reports whether the kernel knows a register by this name in fetchargs.
func (m *Machine) Fetches(r Reg) bool {
	return r != "" && (r == m.PC || r == m.Flags || r == m.Link || slices.Contains(m.DwarfRegisters, r))
}

// CallConv is a calling convention: the places of arguments and results.
type CallConv struct {
	// Ints are the registers of integer and pointer arguments in order. IntResults are the registers of results.
	Ints, IntResults []Reg
	// Floats is the number of floating-point registers, which probes can't fetch.
	Floats int
	// InOrder means that once a value does not fit into the remaining registers of its kind, these stay unused.
	InOrder bool
	// StackArgs is the distance in bytes of the first stack argument from SP at the callee's entry. Outgoing is the
	// distance from SP at the call instruction.
	StackArgs, Outgoing int64
	// Context points to the captured variables of a Go closure at its entry.
	Context Reg
	// G always holds g, or is "" if no register does. CheckG holds g at a stack check.
	G, CheckG Reg
	// Indirect holds the address that the caller passes for a result in memory, "" if that is the first argument.
	// Returned holds this address when the function returns, "" if no register does.
	Indirect, Returned Reg
}

// Arg returns the fetcharg of argument i at the entry of a function whose arguments are all words.
func (c *CallConv) Arg(sp Reg, i int) string {
	if i < len(c.Ints) {
		return c.Ints[i].Fetch()
	}
	return sp.At(c.StackArgs + 8*int64(i-len(c.Ints)))
}

// Frames is the layout of stack frames.
type Frames struct {
	// Return is the fetcharg of the return address at a function's entry. Pointer is the register of the frame pointer.
	// At the entry, it still holds the caller's frame pointer.
	Return  string
	Pointer Reg
	// Pushed is the number of bytes that a call pushes on the stack.
	Pushed uint64
	// AtTop means that a frame pointer points to the top of its frame, where the caller's frame pointer and the
	// return address are. Otherwise it points just below the bottom of the frame.
	AtTop bool
	// Kept means that functions maintain frame pointers.
	Kept bool
}

// Expect returns the frame pointer of a function that maintains one. at is SP in the function's body. size is the distance
// from at to the end of the function's frame, including the return address.
func (f *Frames) Expect(at, size uint64) uint64 {
	if f.AtTop {
		return at + size - 8
	}
	return at - 8
}

// Next returns SP in the body of a function's caller. pointer is the function's frame pointer. saved is the caller's frame
// pointer, which the function saved.
func (f *Frames) Next(pointer, saved uint64) uint64 {
	if f.AtTop {
		return pointer + 16
	}
	return saved + 8
}

// Part is a part of a value that is passed in its own register.
type Part struct {
	Offset, Size int64
	Float        bool
}
