// Command rates calls functions at different and changing rates, for tests of what is
// timed and what is only counted. It prints its books as one JSON object at the end.
//
// It compiles with Go 1.5 to 1.26.
//
// Usage: rates [-for DURATION]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
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

// hot is called all the time.
//
//go:noinline
func hot(n uint64) uint64 {
	if n == 0 {
		panic("rates: call hot: zero")
	}
	return n * 6364136223846793005
}

// slow, late, turns and fib are called at a leisurely pace: late not in the first quarter,
// and turns as often as hot in the second half.
//
//go:noinline
func slow(n uint64) uint64 { return hot(n|1) + 1 }

//go:noinline
func late(n uint64) uint64 { return hot(n|1) + 2 }

//go:noinline
func turns(n uint64) uint64 {
	if n == 0 {
		panic("rates: call turns: zero")
	}
	return n + 3
}

//go:noinline
func fib(n uint64) uint64 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

// catches recovers what panics leaves its calls by.
//
//go:noinline
func catches(n uint64) (err interface{}) {
	defer func() { err = recover() }()
	panics(n)
	return nil
}

//go:noinline
func panics(n uint64) { panic(n) }

// open is running from the beginning to the end.
//
//go:noinline
func open(limit time.Duration) books {
	const fibs = 9 // calls of fib for fib(4)
	b := books{Go: runtime.Version(), Functions: make(map[string]tally)}
	var nHot, nSlow, nLate, nTurns int64
	begin, next := time.Now(), time.Duration(0)
	for past := time.Duration(0); past < limit; past = time.Since(begin) {
		for i := uint64(1); i <= 100; i++ {
			b.Checksum += hot(i)
			if past > limit/2 {
				b.Checksum += turns(i)
				nTurns++
			}
		}
		nHot += 100
		if past < next {
			continue
		}
		next = past + 20*time.Millisecond
		b.Checksum += slow(b.Checksum) + turns(1) + fib(4)
		nSlow, nTurns = nSlow+1, nTurns+1
		if catches(b.Checksum) == nil {
			panic("rates: nothing recovered")
		}
		if past > limit/4 {
			b.Checksum += late(b.Checksum)
			nLate++
		}
	}
	all := func(n int64) tally { return tally{Calls: n, Completed: n} }
	b.Functions["main.hot"] = all(nHot + nSlow + nLate)
	b.Functions["main.slow"] = all(nSlow)
	b.Functions["main.late"] = all(nLate)
	b.Functions["main.turns"] = all(nTurns)
	b.Functions["main.fib"] = all(fibs * nSlow)
	b.Functions["main.catches"] = all(nSlow)
	b.Functions["main.panics"] = tally{Calls: nSlow, Unwound: nSlow}
	b.Functions["main.open"] = all(1)
	return b
}

func main() {
	limit := flag.Duration("for", time.Second, "go on for this long")
	flag.Parse()
	if err := json.NewEncoder(os.Stdout).Encode(open(*limit)); err != nil {
		fmt.Fprintln(os.Stderr, "rates: print books:", err)
		os.Exit(1)
	}
}
