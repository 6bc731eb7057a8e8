package main

import (
	"fmt"
	"runtime/debug"
)

// panicked is what a goroutine has panicked with. The goroutine that waits for it panics in
// its place, after its own deferred functions: they remove the probes. A panic that nobody
// catches ends the process at once, with the probes left in the kernel.
type panicked struct {
	value any
	stack []byte
}

// catch notes the panic of the function that defers it.
func (p *panicked) catch() {
	if v := recover(); v != nil {
		p.value, p.stack = v, debug.Stack()
	}
}

// raise panics if something was caught.
func (p *panicked) raise() {
	if p.stack != nil {
		panic(fmt.Sprintf("%v\n\n%s", p.value, p.stack))
	}
}
