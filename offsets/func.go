package offsets

// Func is one function of a binary: a name and the bytes that belong to it.
type Func struct {
	// Name is the symbol as Go spells it: "main.(*Store).Get",
	// "main.Map[go.shape.int]". The ABI0 version of a function that has another one
	// too goes by "NAME.abi0".
	Name string
	// aliases are other names of the same bytes: __libc_malloc of malloc.
	aliases []string
	// Addr is the virtual address of the first byte, as the ELF file states it
	// (no load bias); Size is the number of bytes.
	Addr, Size uint64
	// ABI is how the function takes its arguments and where it finds g.
	ABI ABI
	// rank, while names are read, is how well Name tells the function among those of its
	// address: the lowest is best.
	rank uint8
}

// ABI is a calling convention.
type ABI uint8

const (
	// ABIInternal passes arguments in registers, and keeps g in one
	// (src/cmd/compile/abi-internal.md).
	ABIInternal ABI = iota
	// ABI0 passes everything on the stack: assembly, and all Go before it had registers.
	ABI0
	// SystemV is the convention of C: there is no goroutine to be found.
	SystemV
)
