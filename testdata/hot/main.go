// Command hot calls one small function N times, or for a while, and prints how long the
// calls took, and when they began and ended, in nanoseconds since 1970:
//
//	{"function":"main.framed","calls":1000,"ns":5123,"begin":1763679600000000000,"end":1763679600000005123}
//
// It is for measuring what a probe costs the program that it is in. main.framed has a
// stack check and saves the frame pointer, main.frameless does neither; both return by
// their only RET.
//
// Usage: hot [-f framed|frameless] [-n CALLS | -for DURATION]
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

//go:noinline
func framed(a, b int) int {
	if b == 0 {
		panic("hot: call framed: zero")
	}
	return a ^ b
}

//go:noinline
func frameless(a, b int) int {
	return a*3 + b
}

var total int

func main() {
	name := flag.String("f", "framed", "call this function")
	n := flag.Int("n", 100000, "so many times")
	limit := flag.Duration("for", 0, "go on for this long, whatever -n says")
	flag.Parse()
	call := map[string]func(a, b int) int{"framed": framed, "frameless": frameless}[*name]
	if call == nil {
		fmt.Fprintf(os.Stderr, "hot: call %q: no such function\n", *name)
		os.Exit(2)
	}
	calls := 0
	begin := time.Now()
	for calls == 0 || *limit > 0 && time.Since(begin) < *limit {
		batch := *n
		if *limit > 0 {
			batch = 1000
		}
		for i := 1; i <= batch; i++ {
			total += call(i, i|1)
		}
		calls += batch
		if batch == 0 {
			break
		}
	}
	end := time.Now()
	fmt.Printf(`{"function":"main.%s","calls":%d,"ns":%d,"begin":%d,"end":%d}`+"\n",
		*name, calls, end.Sub(begin).Nanoseconds(), begin.UnixNano(), end.UnixNano())
}
