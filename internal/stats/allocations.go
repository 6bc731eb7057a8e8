package stats

// AllocationValues are the names of the elements of [Allocations.Values], as in profiles of runtime/pprof.
var AllocationValues = []string{"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}

// Allocations are the objects that one place of a program has allocated.
type Allocations struct {
	Stack  []Location // the place and its callers, the innermost first
	Size   int64      // bytes of each object; 0 if they differ
	Values [4]int64   // objects and bytes: allocated until now, and still in use
}

// Add adds the allocations of another stack.
func (a *Allocations) Add(b *Allocations) {
	if a.Size != b.Size {
		a.Size = 0
	}
	for i, v := range b.Values {
		a.Values[i] += v
	}
}
