// Command flood calls two small functions as fast as it can on several
// goroutines, to find out what a tracer loses and says it has lost. At its end
// it prints the number of calls of each as one JSON object.
//
// It compiles with Go 1.5 to 1.26; see ../exact for the empty switch.
//
// Usage: flood [-n CALLS | -for DURATION] [-g GOROUTINES]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// tally has the fields that the books of every target have.
type tally struct {
	Calls     int64 `json:"calls"`
	Completed int64 `json:"completed"`
	Unwound   int64 `json:"unwound"`
	Open      int64 `json:"open"`
}

type books struct {
	Go        string           `json:"go"`
	Functions map[string]tally `json:"functions"`
	Checksum  uint64           `json:"checksum"`
}

// leaf has no frame and no stack check.
//
//go:noinline
func leaf(a, b uint32) uint32 {
	switch {
	}
	return a*3 + b
}

// framed has a frame and a stack check, for a call that it never makes.
//
//go:noinline
func framed(a, b uint32) uint32 {
	if b == 0 {
		panic("flood: call framed: zero")
	}
	return a ^ b
}

// pour makes n calls of both functions.
func pour(seed uint32, n int64) uint32 {
	for ; n > 0; n-- {
		seed = framed(leaf(seed, 1), uint32(n)|1)
	}
	return seed
}

func main() {
	n := flag.Int64("n", 2000000, "calls of each function on each goroutine")
	limit := flag.Duration("for", 0, "go on for this long, whatever -n says")
	goroutines := flag.Int("g", runtime.GOMAXPROCS(0), "goroutines")
	flag.Parse()

	type share struct {
		calls    int64
		checksum uint32
	}
	var stop int32
	shares := make(chan share)
	for g := 0; g < *goroutines; g++ {
		go func(seed uint32) {
			// The goroutine looks at the clock's flag between batches only, so
			// that next to nothing but the two calls is executed.
			const batch = 1009
			s := share{checksum: seed}
			for *limit > 0 && atomic.LoadInt32(&stop) == 0 {
				s.checksum = pour(s.checksum, batch)
				s.calls += batch
			}
			if *limit == 0 {
				s.checksum = pour(s.checksum, *n)
				s.calls = *n
			}
			shares <- s
		}(uint32(g))
	}
	if *limit > 0 {
		time.Sleep(*limit)
		atomic.StoreInt32(&stop, 1)
	}
	calls, b := int64(0), books{Go: runtime.Version()}
	for g := 0; g < *goroutines; g++ {
		s := <-shares
		calls += s.calls
		b.Checksum += uint64(s.checksum)
	}
	all := tally{Calls: calls, Completed: calls}
	b.Functions = map[string]tally{"main.leaf": all, "main.framed": all}
	if err := json.NewEncoder(os.Stdout).Encode(b); err != nil {
		fmt.Fprintln(os.Stderr, "flood: print books:", err)
		os.Exit(1)
	}
}
