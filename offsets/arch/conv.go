package arch

import "fmt"

// Reg is a register as fetchargs name it, without the %: "x0".
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
	// SP is the stack pointer, Flags are what conditional jumps look at, and Filler is a
	// register to fetch where any will do.
	SP, Flags, Filler Reg
	// DwarfSP and DwarfFP are DWARF's numbers of the stack and the frame pointer.
	DwarfSP, DwarfFP uint64
	// CFA is how far DWARF's canonical frame address is above SP where a function begins.
	CFA int64
	// SteppedReturn: kernels single-step instructions that return.
	SteppedReturn bool
	// LastPadded is the last minor version of Go that may count the padding behind a function as
	// part of it.
	LastPadded int
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

// Passing is how C passes a value of a type: in Parts, or, if there are none, in memory.
// ByRef: what is passed is its address.
type Passing struct {
	Parts []Part
	ByRef bool
}
