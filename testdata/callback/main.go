// Command callback goes from Go to C and back: outer calls half, which calls inner,
// which calls doubled. Each is called 21 times, by three goroutines.
package main

// int half(int n);
import "C"

import "runtime"

//export inner
func inner(n C.int) C.int { return C.int(doubled(int(n))) }

//go:noinline
func doubled(n int) int {
	runtime.Gosched() // comes back on another thread, as like as not
	return n * 2
}

//go:noinline
func outer(n int) int { return int(C.half(C.int(n))) }

func main() {
	done := make(chan int)
	for range 3 {
		go func() {
			sum := 0
			for n := range 7 {
				sum += outer(n)
			}
			done <- sum
		}()
	}
	println(<-done + <-done + <-done)
}
