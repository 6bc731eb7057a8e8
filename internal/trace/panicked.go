package trace

import (
	"fmt"
	"runtime/debug"
)

// Panicked holds the panic of a goroutine, so that the goroutine that waits for it can panic in its place. The deferred
// functions of the waiting goroutine remove the probes. A panic that nothing recovers ends the process at once and
// leaves the probes in the kernel.
type Panicked struct {
	value any
	stack []byte
}

// Catch recovers a panic and stores it. It must be deferred.
func (p *Panicked) Catch() {
	if v := recover(); v != nil {
		p.value, p.stack = v, debug.Stack()
	}
}

// Happened reports whether Catch has stored a panic.
func (p *Panicked) Happened() bool { return p.stack != nil }

// Raise panics with the stored panic, if Catch has stored one.
func (p *Panicked) Raise() {
	if p.Happened() {
		panic(fmt.Sprintf("%v\n\n%s", p.value, p.stack))
	}
}
