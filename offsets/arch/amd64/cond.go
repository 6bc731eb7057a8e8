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

// Condition nibbles (SDM vol. 1, appendix B).
const (
	condB  = 2
	condE  = 4
	condBE = 6
	condA  = 7
)

// conditions are the flags of which one is set where o, b, e, be, s, p, l or le hold; the last
// two also hold where the sign is not the overflow.
var conditions = [8]uint64{
	overflowFlag, carryFlag, zeroFlag, carryFlag | zeroFlag, signFlag, parityFlag, 0, zeroFlag,
}

// Passed is JA. Go 1.4 jumps by it where the check has passed, all others by its opposite
// where it has failed.
func (processor) Passed() arch.Cond { return condA }

// Failed goes by the flags of which one is set where the stack check has failed: what JBE
// asks for.
func (processor) Failed(field string) string {
	return fmt.Sprintf("%s & %d", field, conditions[condBE>>1])
}

// Taken goes by the low four bits of a jump's opcode (Intel SDM vol. 1, appendix B). An odd
// condition is the opposite of the one before it.
func (processor) Taken(cond arch.Cond, flags uint64) bool {
	n := cond >> 1 & 7
	taken := flags&conditions[n] != 0 || n >= 6 && (flags&signFlag != 0) != (flags&overflowFlag != 0)
	return taken != (cond&1 != 0)
}
