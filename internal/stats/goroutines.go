package stats

import "github.com/ftgo/ftgo/offsets"

// Goroutine is a goroutine of a program at a moment.
type Goroutine struct {
	ID, Parent uint64 // Parent is the goroutine that created it, 0 if unknown
	// Waited is the lower bound of the time that the goroutine has waited, in nanoseconds, 0 if unknown. Stated is the time in
	// stack dumps of Go, which may be too long by a cycle of the garbage collector.
	Waited, Stated int64
}

// Goroutines are the goroutines of a program with the same state, creator and stack.
type Goroutines struct {
	Key    string // distinguishes groups
	State  string // as in stack dumps: "running", "chan receive"
	Locked bool   // they are locked to their threads
	// Stack is empty for running goroutines, because their stacks change. Creator is the function with the go statement.
	Stack   []Location
	Creator offsets.Frame
	Members []Goroutine // by ID
	// Change is the number of members minus that in an earlier snapshot, if Compared is true.
	Change   int
	Compared bool
}

// Waited returns the lower bound of the longest wait, 0 if unknown.
func (g *Goroutines) Waited() (longest int64) {
	for _, m := range g.Members {
		longest = max(longest, m.Waited)
	}
	return longest
}
