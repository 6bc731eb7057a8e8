// Command nest calls functions within functions, in an order that tests know: recursion, a
// recovered panic, runtime.Goexit, other goroutines, and a call that never ends.
package main

import (
	"os"
	"runtime"
)

//go:noinline
func fact(n int) int {
	if n < 2 {
		return 1
	}
	return n * fact(n-1)
}

// guard recovers from the panic of what it calls.
//
//go:noinline
func guard() (saved bool) {
	defer func() {
		saved = recover() != nil
		tidy()
	}()
	risky(2)
	return false
}

//go:noinline
func risky(n int) int {
	if n == 0 {
		panic("no way on")
	}
	return risky(n-1) + fact(2)
}

//go:noinline
func tidy() int { return fact(1) }

//go:noinline
func quit(done chan<- bool) {
	defer close(done)
	leave()
	fact(1)
}

//go:noinline
func leave() {
	fact(1)
	runtime.Goexit()
}

//go:noinline
func work(done chan<- bool) {
	fact(2)
	done <- true
}

//go:noinline
func stay() {
	fact(1)
	os.Exit(0)
}

func main() {
	fact(3)
	guard()
	for _, f := range []func(chan<- bool){quit, work} {
		done := make(chan bool)
		go f(done)
		<-done
		for runtime.NumGoroutine() > 1 { // that one ends before the next begins
			runtime.Gosched()
		}
	}
	stay()
}
