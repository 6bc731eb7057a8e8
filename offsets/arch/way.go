package arch

// Destination is where a jump leads.
type Destination uint8

const (
	Inside  Destination = iota // to another place of the same function
	Outside                    // to another function, which returns for both
)

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
	// Destination tells what is at an address of code.
	Destination(addr uint64) (d Destination, ok bool)
	// Pointer reads a word of data that holds an address in the same file.
	Pointer(at uint64) (addr uint64, ok bool)
}
