package arm64

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/arch"
)

// Bits of pstate that decide conditional branches (DDI 0487, C5.2.10).
const (
	overflow = 1 << 28
	carry    = 1 << 29
	zero     = 1 << 30
	negative = 1 << 31
)

// Failed selects hits at which B.LS is taken, because C is clear or Z is set.
func (processor) Failed(field string) string {
	return fmt.Sprintf("!(%[1]s & %[2]d) || %[1]s & %[3]d", field, carry, zero)
}

// Taken evaluates a condition like ConditionHolds of the manual (DDI 0487, J1.3). An odd condition is the opposite of the
// even one before it, except the last one, which always holds.
func (processor) Taken(cond arch.Cond, flags uint64) (taken bool) {
	sign := (flags&negative != 0) == (flags&overflow != 0)
	switch cond >> 1 & 7 {
	case 0:
		taken = flags&zero != 0
	case 1:
		taken = flags&carry != 0
	case 2:
		taken = flags&negative != 0
	case 3:
		taken = flags&overflow != 0
	case 4:
		taken = flags&carry != 0 && flags&zero == 0
	case 5:
		taken = sign
	case 6:
		taken = sign && flags&zero == 0
	default:
		return true
	}
	return taken != (cond&1 != 0)
}
