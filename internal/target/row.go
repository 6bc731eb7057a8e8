package target

import "github.com/ftgo/ftgo/offsets"

// Row is a function that can be probed, or, with a Note that says so, cannot; or a
// single instruction.
type Row struct {
	Name string
	// Addr is the function's address as linked, Offset where its code is in the file;
	// both are 0 if it has none.
	Addr, Offset uint64
	// Size of the code in bytes, 0 for an instruction.
	Size uint64
	// File and Line are where the source has it; "" and 0 if that is not known.
	File string
	Line int
	// ABI is the calling convention.
	ABI string
	// Entry says where the entry probe goes.
	Entry string
	// Returns is the number of return instructions, TailJumps that of jumps which
	// leave the function instead.
	Returns, TailJumps int
	// Signature is the name with parameters and results, "" if they are not known.
	Signature string
	// Inlined is where the function was put into others.
	Inlined []offsets.Frame
	// Unprobed is why it can't be probed, nil if it can.
	Unprobed error
	// Note is what else is to be known of it.
	Note string
}
