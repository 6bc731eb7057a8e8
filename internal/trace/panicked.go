package trace

import (
	"fmt"
	"runtime/debug"
)

// Panicked is what a goroutine has panicked with. The goroutine that waits for it panics in
// its place, after its own deferred functions: they remove the probes. A panic that nobody
// catches ends the process at once, with the probes left in the kernel.
type Panicked struct {
	value any
	stack []byte
}

// Catch notes the panic of the function that defers it.
func (p *Panicked) Catch() {
	if v := recover(); v != nil {
		p.value, p.stack = v, debug.Stack()
	}
}

// Raise panics if something was caught.
func (p *Panicked) Raise() {
	if p.stack != nil {
		panic(fmt.Sprintf("%v\n\n%s", p.value, p.stack))
	}
}
