package pairing

// What says what an [Item] tells of.
type What uint8

const (
	// Began: Call, which is paired, has begun, if [Options].Entries asks for it; its End and Outcome mean nothing yet.
	Began What = iota
	// Ended: Call, which is paired, has ended, whatever its Outcome.
	Ended
	// Go: a call has started Goroutine, or that has ended, if [uprobe.Plan].Follows. It comes before the
	// goroutine's calls, and after them.
	Go
	// Kernel: Event is one of [Options].Kernel.
	Kernel
	// Marked: the moment of a [Stream.Mark] has come, and what is to be done then was done.
	Marked
	// Gone: all of process PID was read, and its number may be used again.
	Gone
	// Read: all that a read has found was told; N is how much that was.
	Read
)

// Item is one thing that a [Stream] tells, in order. It is valid until the next one, and so is what it points to; of its fields
// those mean something that its What names.
type Item struct {
	What      What
	PID, N    int
	Call      *Call
	Goroutine *Goroutine
	Event     *KernelEvent
}

// Items are what a stream tells next. Once a loop over them has ended early, the rest of them is dropped.
type Items = func(yield func(*Item) bool)

// ignore takes items that nobody wants.
func ignore(*Item) bool { return true }

// tell yields an item, all of which is set but What.
func (p *Stream) tell(what What) {
	p.item.What = what
	if !p.yield(&p.item) {
		p.yield = ignore
	}
}

// items yields what do tells.
func (p *Stream) items(do func()) Items {
	return func(yield func(*Item) bool) {
		defer func(before func(*Item) bool) { p.yield = before }(p.yield)
		p.yield = yield
		do()
	}
}
