// Command wrapped has the compiler make functions that do no more than call others: for an instance of a generic type in an
// interface, for go and defer statements with arguments, for a method's value. It needs Go 1.18.
package main

import "os"

var sum int

//go:noinline
func add(n int) { sum += n + len(os.Args) }

// relay, its method and the closure in main do no more than call others, too, but somebody wrote them.
//
//go:noinline
func relay(n int) { add(n) }

type cons[T any] struct{ head T }

//go:noinline
func (c cons[T]) match(n int) { relay(n) }

//go:noinline
func (c cons[T]) relay(n int) { c.match(n) }

type matcher interface{ match(n int) }

//go:noinline
func each(list ...matcher) {
	for _, m := range list {
		m.match(1)
	}
}

func main() {
	each(cons[int]{1}, cons[string]{"two"})
	cons[int]{3}.relay(3)
	done := make(chan bool)
	go func() {
		relay(4)
		done <- true
	}()
	<-done
	defer func() { relay(5) }()
	for i := 0; i < len(os.Args); i++ {
		defer add(i)
	}
	go add(6)
}
