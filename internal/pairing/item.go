package pairing

import "iter"

// Kind is the kind of an [Item].
type Kind uint8

const (
	// Began: Call has begun. Its End and Outcome are not set yet. Only emitted if [Options].Entries is set.
	Began Kind = iota
	// Ended: Call has ended, or it is Open, because tracing or its process has ended.
	Ended
	// Go: a call has started Goroutine, or Goroutine has ended, if [uprobe.Options].Follow is set. A start comes before
	// the calls of the goroutine, an end after them.
	Go
	// Kernel: Event is an event of [Options].Kernel.
	Kernel
	// Marked: the callback of a [Stream.Mark] has run.
	Marked
	// Forgotten: the state of process PID was dropped. A new process may get its PID.
	Forgotten
	// Read: [Stream.Read] has emitted everything it read; N is the number of bytes or pages.
	Read
)

// Item is a result of a [Stream]. It is valid until the next one, and so are the values that it points to. Only the
// fields that the comment of its Kind names are valid.
type Item struct {
	Kind      Kind
	PID, N    int
	Call      *Call
	Goroutine *Goroutine
	Event     *KernelEvent
}

// discard is the yield function while nobody iterates.
func discard(*Item) bool { return true }

// emit yields p.item as an item of a kind, after the caller has set the other fields. If the loop ends, emit discards
// the rest of the items.
func (p *Stream) emit(kind Kind) {
	p.item.Kind = kind
	if !p.yield(&p.item) {
		p.yield = discard
	}
}

// items returns an iterator over the items that do emits. If a loop over it ends early, the other items are lost.
func (p *Stream) items(do func()) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		defer func(before func(*Item) bool) { p.yield = before }(p.yield)
		p.yield = yield
		do()
	}
}
