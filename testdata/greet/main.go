// Command greet does what articles about tracing Go show: it adds 42 and 13, prints
// "Hello, BPF!", and counts. It compiles with Go 1.5 to 1.26.
//
// Usage: greet [-n ADDITIONS] [-every DURATION]
package main

import (
	"flag"
	"fmt"
	"time"
)

var counter int

// add is not inlined by Go 1.5, which inlines no switch.
//
//go:noinline
func add(a, b int) int {
	switch {
	}
	return a + b
}

func main() {
	n := flag.Int("n", 7, "how often to add")
	every := flag.Duration("every", 0, "time between two additions")
	flag.Parse()
	for i := 0; i < *n; i++ {
		counter += add(42, 13) / 55
		time.Sleep(*every)
	}
	fmt.Println("Hello, BPF!")
}
