// Package arch says what depends on the processor that a program is compiled for: how its
// instructions are decoded, and what a probe costs on one. A [Processor] knows that of one
// kind of processor; package offsets chooses it by the ELF header.
package arch

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/gotype"
)

// Processor is one kind of processor. It keeps nothing, so it is for any number of
// goroutines at the same time. Code is always bytes of a program's text.
type Processor interface {
	// Machine is what there is to say of the processor in words and numbers.
	Machine() *Machine
	// Decode decodes the instruction at the start of code. It never guesses: bytes that
	// two decoders measure differently are an error, since a probe in the middle of an
	// instruction corrupts the program.
	Decode(code []byte) (Inst, error)
	// Cost is the price of a probe on the instruction at an offset of a function's code.
	Cost(function []byte, at int) Cost
	// Effects is what the instruction at the start of code is known not to do.
	Effects(code []byte) Effects
	// Leads tells whether an indirect jump of a function of C that may leave it stays inside; ok
	// is false if that can't be told.
	Leads(at uint64, w Way) (inside, ok bool)
	// Alike compares the code of two functions that begin at the same address, but for where data may be that
	// their instructions refer to: same returns whether the two places agree. If one is absolute, a number is there that
	// differs, and may be no address. Where it is not ok, at is the offset of the first instruction that differs.
	Alike(x, y []byte, addr uint64, same func(x, y uint64, absolute bool) bool) (at int, ok bool)
	// Trim returns how many bytes of code are left of a function without the padding that
	// Go's linker puts behind it.
	Trim(function []byte) int
	// StackCheck finds the check of the stack's size in the code of a function of Go,
	// without any symbols.
	StackCheck(function []byte) (Check, bool)
	// Spilled are the registers that a function saves where its stack check fails: all that hold
	// arguments. ok is false if they are not known.
	Spilled(function []byte, c Check) (spills []Spill, ok bool)
	// Read are registers for integers that a function reads before it writes them, those of which
	// that is certain: arguments.
	Read(function []byte) []Reg
	// SplitsStack reports whether code begins with GCC's check of a split stack
	// (-fsplit-stack).
	SplitsStack(function []byte) bool
	// Go is how functions of a minor version of Go pass values: assembly does so by ABI0.
	Go(minor int, assembly bool) *CallConv
	// C is how functions of C do, and PassC how they pass a value of a type: in parts, or, if there
	// are none, in memory. byRef: what is passed is its address.
	C() *CallConv
	PassC(t *gotype.Type) (parts []Part, byRef bool, err error)
	// Fetches tells whether fetchargs may name a register so.
	Fetches(r Reg) bool
	// Frames is how frames of a minor version of Go lie on the stack.
	Frames(minor int) *Frames
	// DwarfReg is the register of a number in DWARF, "" for one of floating point; ok is
	// false if there is none that values are in.
	DwarfReg(n uint64) (r Reg, ok bool)
	// Passed is the condition that holds at [Check].Jump if the check has passed.
	Passed() Cond
	// Taken reports whether a conditional jump is taken under the flags that a probe
	// fetched there.
	Taken(c Cond, flags uint64) bool
	// Failed is an expression for the kernel's event filter: hits at [Check].Jump whose flags
	// are in a field and say that the check has failed.
	Failed(field string) string
}

// Kind tells what an instruction does to the flow of control.
type Kind uint8

const (
	Other        Kind = iota // goes on to the next instruction
	Return                   // to the caller
	Jump                     // to a known address
	CondJump                 // to a known address, or on to the next instruction
	Call                     // of a known address
	IndirectJump             // through a register or memory
	IndirectCall             // through a register or memory
	Trap                     // raises an exception
	Nop                      // goes on to the next instruction, and does nothing else
	Literal                  // loads data from a known address near, and goes on to the next instruction
	// SwitchJump is an indirect jump of a form that Go's compiler makes for switch
	// statements and for nothing else.
	SwitchJump
)

// Cond is the condition of a conditional jump, as its processor numbers it. Recordings hold it.
type Cond uint8

// NoCond is the Cond of an instruction whose flow does not depend on the flags. A
// conditional jump with NoCond depends on a register.
const NoCond Cond = 0xff

// GoesOn tells whether execution can do nothing but go on to the next instruction.
func (k Kind) GoesOn() bool { return k == Other || k == Nop || k == Literal }

// Indirect tells whether it is a jump through a register or memory.
func (k Kind) Indirect() bool { return k == IndirectJump || k == SwitchJump }

// Inst is one decoded instruction. It has no more than four fields, so that the compiler
// keeps it in registers: programs have millions of them.
type Inst struct {
	Len  int // in bytes
	Kind Kind
	Cond Cond
	// To is where a direct branch leads, or the data of a Literal is, counted from the start of the
	// instruction.
	To int64
}

// Cost is the price of a uprobe on one instruction. If it is neither Emulated nor Later nor
// Refused, a copy of the instruction is single-stepped, with a second trap.
type Cost struct {
	// Later says what the instruction is that newer kernels emulate, Refused why some
	// kernel refuses it, or takes it and then misbehaves.
	Later, Refused string
	// Emulated: every kernel carries the instruction out in its trap handler.
	Emulated bool
	// Passable: the instruction is Refused, but leaves the stack pointer and the flow of
	// control alone, so that a probe may be put behind it instead.
	Passable bool
	// Cond is the condition of a conditional jump, which package offsets sets: what a hit means depends on it.
	// That of a stack check's is the one that holds if the check has passed.
	Cond Cond
}

// Stepped tells whether a copy is single-stepped.
func (c Cost) Stepped() bool { return !c.Emulated && c.Later == "" && c.Refused == "" }

// Check is the check of the stack's size in the prologue of a function of Go. A function
// whose check fails calls runtime.morestack and starts over, so its first instruction runs
// more often than it is called.
type Check struct {
	// Jump is the offset of the conditional jump that decides. It runs once for
	// each passed and once for each failed check. Until then the stack pointer, the
	// arguments and the closure context are as the caller left them.
	Jump int
	// Post is the offset of the first instruction behind a passed check.
	Post int
	// Repeats: Post may run again after a preemption, so that Jump alone tells of calls.
	Repeats bool
	// First is the offset of the check's first conditional jump, Again that of the call of
	// runtime.morestack, which each failed check comes by: the function is called as often as First runs, less
	// how often Again does. Both are 0 if that is not known.
	First, Again int
}

// Spill is a register of an argument, "" for one of floating point, and the place on the stack
// that the argument has beside: so far above SP where the function begins.
type Spill struct {
	Register   Reg
	Disp, Size int64
}

// Effects is what an instruction is known not to do.
type Effects struct {
	// KeepsFrame: it raises no signal, and writes neither the stack pointer nor the frame
	// pointer, neither the register that holds g nor the return address.
	KeepsFrame bool
	// KeepsRegisters: it writes no register but flags, stack and frame pointer, those that never
	// have an argument, and those that no probe can fetch.
	KeepsRegisters bool
	// KeepsMemory: it writes none.
	KeepsMemory bool
	// Repeats: it may be the first of some that Go's assembler makes of one, and runs again if a goroutine is
	// preempted before the last of them.
	Repeats bool
}

// Way is what is known of a function around one of its jumps. Instructions go by their
// addresses, and a function may have parts anywhere in the file.
type Way interface {
	// Start is the function's first instruction.
	Start() uint64
	// Code is that of an instruction, and of what follows.
	Code(at uint64) []byte
	// Above returns the instruction that lies before one.
	Above(at uint64) (above uint64, ok bool)
	// Before returns the instructions that may be executed right before one.
	Before(at uint64) []uint64
	// Inside tells whether code at an address is the function's own, and not another one's, which
	// returns for both.
	Inside(addr uint64) (inside, ok bool)
	// Pointer reads a word of data that holds an address in the same file.
	Pointer(at uint64) (addr uint64, ok bool)
}

// Reg is a register as fetchargs name it, without the %: "sp".
type Reg string

// Fetch is the fetcharg of what is in the register.
func (r Reg) Fetch() string { return "%" + string(r) }

// At is the fetcharg of the memory that the register points to, or near.
func (r Reg) At(disp int64) string { return fmt.Sprintf("%+d(%s)", disp, r.Fetch()) }

// Machine is a processor in words and numbers.
type Machine struct {
	// Name is how people call it, and GOARCH how Go does. Recordings hold the name.
	Name, GOARCH string
	// Quantum is what the sizes of all instructions are multiples of.
	Quantum byte
	// SP is the stack pointer, PC has the address of the instruction that is probed, Flags are what
	// conditional jumps look at, and Filler is a register to fetch where any will do.
	SP, PC, Flags, Filler Reg
	// DwarfSP and DwarfFP are DWARF's numbers of the stack and the frame pointer.
	DwarfSP, DwarfFP uint64
	// CFA is how far DWARF's canonical frame address is above SP where a function begins.
	CFA int64
	// SteppedReturn: kernels single-step instructions that return.
	SteppedReturn bool
	// Breakpoints are what the code of a process may have where the kernel has put a probe, as it begins.
	Breakpoints [][]byte
	// LastPadded is the last minor version of Go that may count the padding behind a function as
	// part of it.
	LastPadded int
	// AddressBits is how many bits addresses of user space have, unless a program asks for more.
	AddressBits int
	// Relative and Absolute are the numbers of ELF relocations that give a word an address of
	// the file itself, and that of a symbol.
	Relative, Absolute uint32
	// Libraries are the folders of the dynamic loader that are the processor's own, and
	// LibraryFlags what the loader's cache says of its libraries.
	Libraries    []string
	LibraryFlags uint32
	// FirstRegisters is the first minor version of Go that passes arguments in registers.
	FirstRegisters int
}

// CallConv is how a function finds its arguments, and its caller its results.
type CallConv struct {
	// Ints are the registers of arguments that are integers or pointers, in their order,
	// and IntResults those of results.
	Ints, IntResults []Reg
	// Floats is the number of registers for floating point, which can't be fetched.
	Floats int
	// InOrder: once there are too few registers of a kind for a value, those that are left hold no
	// other one's, either.
	InOrder bool
	// StackArgs is how far arguments on the stack are above SP where the function begins,
	// Outgoing where it is called.
	StackArgs, Outgoing int64
	// Context points to what a closure of Go has captured, where the closure begins.
	Context Reg
	// G holds g all the time; "" if no register does. CheckG holds it at a stack check.
	G, CheckG Reg
	// Indirect is where the caller puts the address for a result that is returned in memory; ""
	// if that is the first argument. Returned is where it is when the function
	// returns; "" if nothing holds it then.
	Indirect, Returned Reg
}

// Arg is the fetcharg of argument i of a function whose arguments are words, where it begins.
func (c *CallConv) Arg(sp Reg, i int) string {
	if i < len(c.Ints) {
		return c.Ints[i].Fetch()
	}
	return sp.At(c.StackArgs + 8*int64(i-len(c.Ints)))
}

// Frames is how frames lie on the stack, one above the other.
type Frames struct {
	// Return is the fetcharg of the return address where a function begins, and Pointer the
	// frame pointer, which is still the caller's there.
	Return  string
	Pointer Reg
	// Pushed is what a call pushes: SP at the call is so far above SP where the function begins.
	Pushed uint64
	// AtTop: a frame pointer leads to the top of its frame, where the caller's
	// frame pointer and the return address are; else to just below its bottom.
	AtTop bool
	// Kept: functions keep frame pointers.
	Kept bool
}

// Expect is where the frame pointer of a function leads to that keeps one: at is SP in its
// body, and size the distance from there to the end of its frame, return address included.
func (f *Frames) Expect(at, size uint64) uint64 {
	if f.AtTop {
		return at + size - 8
	}
	return at - 8
}

// Next is SP in the body of the caller of the function that has a frame pointer, of which
// saved is the caller's.
func (f *Frames) Next(pointer, saved uint64) uint64 {
	if f.AtTop {
		return pointer + 16
	}
	return saved + 8
}

// Part is a part of a value that has a register of its own.
type Part struct {
	Offset, Size int64
	Float        bool
}
