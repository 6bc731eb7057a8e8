package amd64

import (
	"fmt"

	"github.com/ftgo/ftgo/offsets/arch"
)

// Bits of RFLAGS that conditional jumps look at (Intel SDM vol. 1, 3.4.3.1).
const (
	carryFlag    = 1 << 0
	parityFlag   = 1 << 2
	zeroFlag     = 1 << 6
	signFlag     = 1 << 7
	overflowFlag = 1 << 11
)

// checkFailed are the flags of which one is set where the stack check has failed: what JBE
// asks for.
const checkFailed = carryFlag | zeroFlag

// Passed is JA. Go 1.4 jumps by it where the check has passed, all others by its opposite
// where it has failed.
func (processor) Passed() arch.Cond { return condA }

func (processor) Failed(field string) string { return fmt.Sprintf("%s & %d", field, checkFailed) }

// Taken goes by the low four bits of a jump's opcode (Intel SDM vol. 1, appendix B). An odd
// condition is the opposite of the one before it.
func (processor) Taken(cond arch.Cond, flags uint64) bool {
	set := func(bits uint64) bool { return flags&bits != 0 }
	var taken bool
	switch cond >> 1 & 7 {
	case 0: // o, no
		taken = set(overflowFlag)
	case 1: // b, ae
		taken = set(carryFlag)
	case 2: // e, ne
		taken = set(zeroFlag)
	case 3: // be, a
		taken = set(carryFlag | zeroFlag)
	case 4: // s, ns
		taken = set(signFlag)
	case 5: // p, np
		taken = set(parityFlag)
	case 6: // l, ge
		taken = set(signFlag) != set(overflowFlag)
	case 7: // le, g
		taken = set(zeroFlag) || set(signFlag) != set(overflowFlag)
	}
	return taken != (cond&1 != 0)
}
