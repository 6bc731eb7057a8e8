package offsets

import (
	"hash/maphash"
	"math/bits"
)

// nameSet finds the functions of a long list that have the name of an earlier one. Hardly any
// has: a map of all names took a quarter of a stripped program's planning.
type nameSet struct {
	seed  maphash.Seed
	slots []uint32 // places in the list, from 1 on, where the hash of the name says or behind
}

// newNameSet is for so many names.
func newNameSet(n int) *nameSet {
	return &nameSet{maphash.MakeSeed(), make([]uint32, 2<<bits.Len(uint(n)))}
}

// add returns the place in the list of the first function of that name, which is the list's
// length if it is new: it must be the list's next one then.
func (s *nameSet) add(funcs []Func, name string) (first int) {
	mask := uint64(len(s.slots) - 1)
	for at := maphash.String(s.seed, name) & mask; ; at = (at + 1) & mask {
		switch first := s.slots[at]; {
		case first == 0:
			s.slots[at] = uint32(len(funcs)) + 1
			return len(funcs)
		case funcs[first-1].Name == name:
			return int(first - 1)
		}
	}
}
