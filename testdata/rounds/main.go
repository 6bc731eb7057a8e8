// Rounds calls each of 300 functions once a round, one after the other, until standard input
// ends: in any stretch of time, the numbers of their calls differ by one at most.
package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

var touched int

//go:noinline
func touch() { touched++ }

func main() {
	var ended atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		ended.Store(true)
	}()
	fmt.Println("ready")
	for !ended.Load() {
		for _, f := range all {
			f()
		}
	}
}
