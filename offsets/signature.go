package offsets

import "github.com/ftgo/ftgo/offsets/gotype"

// Signature is what a function takes and gives, and where it lies: parameters at entry
// (at the function's first instruction, and after its stack check as well), results at
// every RET.
type Signature struct {
	// Params are the receiver first, then the parameters. Captured are the variables
	// that a closure refers to, readable at entry only.
	Params, Results, Captured []Variable
	// Note says what is not known, for people to read; "" if nothing is missing.
	Note string
}

// Variable is a value and where it lies.
type Variable struct {
	// Name is as in the source; results without a name are r0, r1 …, parameters p0 ….
	Name string
	Type *gotype.Type
	// Pieces are where the bytes of the value are: each in a register or in memory. A
	// value of size 0 has none.
	Pieces []Piece
	// Err says why the value as a whole can't be read, else nil.
	Err error
}

// Piece is a part of a value.
type Piece struct {
	// Offset is the part's place in the value, Size its bytes.
	Offset, Size int64
	// Register is the one that holds the part, or, if InMemory is set, the one that Disp
	// is added to for its address: "ax", "r10", "sp", "dx" as uprobe_events names them.
	// "" is a floating-point register, which can't be fetched.
	Register string
	InMemory bool
	Disp     int64
	// Pointer: the value at that address is the address of the part (a variable
	// captured by reference).
	Pointer bool
	// Static: the part is at the virtual address Disp of the file, load bias not
	// counted (a package variable); Register and InMemory are not set.
	Static bool
}
